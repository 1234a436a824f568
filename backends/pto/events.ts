/** Event ids of a pair of pipes: instructions of the library use 0, the program's syncs the next six, the lowering the last. */
export const firstEvent = 1;
export const eventsOfProgram = 6;
export const eventOfLowering = 7;
