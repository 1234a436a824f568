/** Numbers as floats of Python. */

/** Returns the text of a number as a float of Python. */
export const pythonFloat = (value: number): string =>
  Object.is(value, -0)
    ? "-0.0"
    : Number.isInteger(value) && Math.abs(value) < 1e21
      ? `${value}.0`
      : String(value);
