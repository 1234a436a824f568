/** A report that is derived when it is first read. */
import type { SimReport } from "../report.js";

/**
 * Result of a run whose report is derived when it is first read. `report` is a property of each object, with
 * one getter that all objects share. V8 would give an object with its own getter a separate hidden class,
 * which takes a microsecond to make and outlives the object.
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
