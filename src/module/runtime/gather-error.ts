/**
 * Error that a compiled module throws or rejects with. `code` is the diagnostic code, and `data` has the
 * numbers in the message by name.
 */
export class GatherError extends Error {
  override readonly name = "GatherError";
  /**
   * Coordinates of the output element whose index value is at fault. `site` is the number of the index
   * operand, from 0.
   */
  readonly point: readonly number[] | undefined;
  readonly site: number | undefined;

  /**
   * `code`: error code, listed in tilec's docs/diagnostics.md. `data`: the numbers in the message, by name.
   */
  constructor(
    readonly code: string,
    message: string,
    readonly data: { readonly point?: readonly number[]; readonly site?: number } & Readonly<
      Record<string, unknown>
    > = {},
  ) {
    super(`${code}: ${message}`);
    this.point = data.point;
    this.site = data.site;
  }
}
