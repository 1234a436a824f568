/** Attributes of source operators. */

/** An attribute of a source operator. */
export type AttrValue = number | string | readonly number[];
/** Attributes by their name in the text form. */
export type Attrs = Readonly<Record<string, AttrValue>>;
