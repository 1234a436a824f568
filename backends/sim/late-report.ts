/** A report that is derived when it is first read. */
import type { SimReport } from "../report.js";

/** Result of an execution, with a report that is derived at the first read. */
export class LateReport {
  declare readonly report: SimReport;
  readonly #derive: () => SimReport;
  #derived: SimReport | undefined;

  constructor(derive: () => SimReport) {
    this.#derive = derive;
    Object.defineProperty(this, "report", LateReport.property);
  }

  private static readonly property: PropertyDescriptor & ThisType<LateReport> = {
    enumerable: true,
    configurable: true,
    get() {
      return (this.#derived ??= this.#derive());
    },
  };
}
