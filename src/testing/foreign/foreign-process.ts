/**
 * A process for a WGSL kernel that tilec did not write: a shader that never ends holds up the process that
 * launched it, which can then only be ended from outside.
 */
import { fork, type ChildProcess } from "node:child_process";
import type { HostInputs } from "../../../backends/index.js";
import { defined, CompileError, error, RunError, type Diagnostic } from "../../../ir/index.js";
import { packageFile } from "../../device/package-files.js";
import type { ForeignWgsl, OperandsOfProgram } from "./foreign-wgsl.js";

/**
 * Request to the process that runs a caller's WGSL kernel: a launch if `inputs` is present, else a check that
 * the device accepts the kernel.
 */
export interface ForeignRequest {
  readonly described: ForeignWgsl;
  readonly program: OperandsOfProgram;
  readonly inputs?: HostInputs;
}

/**
 * Reply of the process that runs a caller's WGSL kernel: the output, the diagnostics of a thrown error, or
 * the text of a bug.
 */
export type ForeignReply =
  | { readonly output?: Uint8Array }
  | { readonly thrown: "CompileError" | "RunError"; readonly diagnostics: readonly Diagnostic[] }
  | { readonly bug: string };

/** Milliseconds that a device and a pipeline may take to be made. */
const opening = 60_000;

/**
 * Connection to a separate process that runs a caller's WGSL kernel. The first request starts the process.
 * Requests run one at a time.
 */
export class ForeignProcess {
  private child: ChildProcess | undefined;
  private pending: Promise<unknown> = Promise.resolve();
  private ended: RunError | undefined;

  constructor(private readonly described: ForeignWgsl) {}

  /**
   * Rejects with the CompileError or RunError of the other process, and with a RunError (TC611) where it
   * takes too long or dies.
   */
  request(program: OperandsOfProgram, inputs?: HostInputs): Promise<Uint8Array | undefined> {
    const answer = this.pending.then(() =>
      this.ask({ described: this.described, program, ...defined({ inputs }) }),
    );
    this.pending = answer.catch(() => undefined);
    return answer;
  }

  private async ask(request: ForeignRequest): Promise<Uint8Array | undefined> {
    if (this.ended !== undefined) throw this.ended;
    const child = (this.child ??= start());
    const reply = await this.replyOf(child, request);
    if ("bug" in reply) throw new Error(reply.bug);
    if ("thrown" in reply)
      throw reply.thrown === "CompileError"
        ? new CompileError(reply.diagnostics)
        : new RunError(reply.diagnostics);
    return reply.output;
  }

  private replyOf(child: ChildProcess, request: ForeignRequest): Promise<ForeignReply> {
    const { timeout: ofDraw = opening, name = "foreign" } = this.described;
    const timeout = request.inputs === undefined ? opening : ofDraw;
    return new Promise((resolve, reject) => {
      const over = (action: () => void): void => {
        clearTimeout(timer);
        child.off("message", onMessage).off("exit", onExit);
        action();
      };
      const end = (message: string, hint: string): void => {
        over(() => {
          this.ended = new RunError([error("TC611", `${name} ${message}`, { hint })]);
          child.kill("SIGKILL");
          reject(this.ended);
        });
      };
      const onMessage = (reply: unknown): void => {
        over(() => {
          resolve(reply as ForeignReply);
        });
      };
      const onExit = (code: number | null): void => {
        end(`ended its process with ${code ?? "a signal"}`, "its launches are run in a process of their own");
      };
      const timer = setTimeout(() => {
        end(`gave no output within ${timeout / 1000} s`, "look for a loop without an end");
      }, timeout);
      child.on("message", onMessage).on("exit", onExit);
      child.send(request);
    });
  }

  /** Ends the process; the next request begins another. */
  close(): void {
    this.child?.kill("SIGKILL");
    this.child = undefined;
  }
}

/**
 * Starts the process that runs a caller's WGSL kernel. An idle process does not prevent tilec from exiting.
 */
function start(): ChildProcess {
  const child = fork(packageFile("dist/src/testing/foreign/foreign-server.js"), {
    serialization: "advanced",
  });
  child.unref();
  child.channel?.unref();
  return child;
}
