/**
 * Error that a compiled module throws or rejects with. `code` is the diagnostic code, and `data` has the
 * numbers in the message by name.
 */
export class GatherError extends Error {
  override readonly name = "GatherError";
  /** The output element whose index is at fault, and which of its index values it is. */
  readonly point: readonly number[] | undefined;
  readonly site: number | undefined;

  /** `code`: as in tilec's docs/diagnostics.md. `data`: the numbers of the message by name. */
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
