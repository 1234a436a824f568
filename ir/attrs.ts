/** Attributes of source operators. */

/** Value of an attribute of a framework's operator (source operator). */
export type AttrValue = number | string | readonly number[];
/** Attributes of a framework's operator, by attribute name in the text form (`.tir`). */
export type Attrs = Readonly<Record<string, AttrValue>>;
