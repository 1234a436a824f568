/** The largest n in [low, high] with `fits(n)`, for a `fits` that is true up to some point; undefined if none. */
export function largestThat(low: number, high: number, fits: (n: number) => boolean): number | undefined {
  if (high < low || !fits(low)) return undefined;
  let [good, bad] = [low, high + 1];
  while (bad - good > 1) {
    const middle = Math.floor((good + bad) / 2);
    if (fits(middle)) good = middle;
    else bad = middle;
  }
  return good;
}
