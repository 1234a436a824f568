/** A report that is derived when it is first read. */
import type { SimReport } from "../report.js";

/**
 * What a run gives beside its report. The report is a property of each object, by one getter that all share: V8 gives an object with a
 * getter of its own a hidden class, which takes a microsecond to make and outlives the object.
 */
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
