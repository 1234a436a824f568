/** Flags, such as a hint gives, as entries of a schedule. */
export interface ScheduleText {
  readonly entry: "tile" | "view" | "order" | "profile" | "residency" | "buffers" | "ubBytes";
  /** As the flag takes it; empty: the entry goes. */
  readonly text: string;
}

export const entriesOf = (flags: string): ScheduleText[] =>
  [...flags.matchAll(/--(tile|view|order|profile|residency|buffers|ub-bytes) (\S+)/g)].map(
    ([, flag = "", text = ""]) => ({
      entry: (flag === "ub-bytes" ? "ubBytes" : flag) as ScheduleText["entry"],
      text,
    }),
  );
