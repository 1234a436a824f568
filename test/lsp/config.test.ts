/** The config that the language server reads: one that runs code, in a workspace that may not be trusted. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";
import {
  CompletionRequest,
  createProtocolConnection,
  DidOpenTextDocumentNotification,
  InitializedNotification,
  InitializeRequest,
  PublishDiagnosticsNotification,
  ShowMessageNotification,
  StreamMessageReader,
  StreamMessageWriter,
} from "vscode-languageserver-protocol/node";
import { scratchFolder } from "../support/scratch-folder.js";

const main = fileURLToPath(new URL("../../dist/src/cli/main.js", import.meta.url));
const folder = scratchFolder("lsp-config");
const broken = scratchFolder("lsp-broken");
const config = join(folder, "tilec.config.mjs");
writeFileSync(
  config,
  `import { targets } from ${JSON.stringify(new URL("../../dist/src/index.js", import.meta.url).href)};
import { findOp } from ${JSON.stringify(new URL("../../dist/ir/index.js", import.meta.url).href)};
export default {
  targets: [{ ...targets.ascendA2, name: "mine" }],
  operators: [{ ...findOp("onnx.gather_elements"), name: "mine.elements" }],
};
`,
);
writeFileSync(join(broken, "tilec.config.mjs"), "export default { tragets: [] };\n");

const text = `func @f(%x: tensor<3x5xf32>, %i: tensor<3x4xi32>) -> tensor<3x4xf32> target("mine") {
  %y = mine.elements %x, %i {axis = 0}
  return %y
}
`;

let close = (): void => undefined;
afterEach(() => {
  close();
});

/** The codes of a program with an operator and a target of the config, what the server shows the user, and the operators that it offers. */
async function told(
  workspace: string,
  options: unknown,
  ...flags: readonly string[]
): Promise<{
  readonly codes: readonly unknown[];
  readonly shown: readonly string[];
  readonly offered: readonly string[];
}> {
  const child = spawn(process.execPath, [main, "lsp", ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const client = createProtocolConnection(
    new StreamMessageReader(child.stdout),
    new StreamMessageWriter(child.stdin),
  );
  close = () => {
    client.dispose();
    child.kill();
  };
  const shown: string[] = [];
  client.onNotification(ShowMessageNotification.type, ({ message }) => void shown.push(message));
  const diagnostics = new Promise<readonly unknown[]>((resolve) => {
    client.onNotification(PublishDiagnosticsNotification.type, (params) => {
      resolve(params.diagnostics.map(({ code }) => code));
    });
  });
  client.listen();
  await client.sendRequest(InitializeRequest.type, {
    processId: null,
    rootUri: null, // eslint-disable-line @typescript-eslint/no-deprecated -- the protocol's type still asks for it
    workspaceFolders: [{ uri: pathToFileURL(workspace).href, name: "w" }],
    initializationOptions: options,
    capabilities: {},
  });
  await client.sendNotification(InitializedNotification.type, {});
  await client.sendNotification(DidOpenTextDocumentNotification.type, {
    textDocument: { uri: "file:///kernels/mine.tir", languageId: "tir", version: 1, text },
  });
  const codes = await diagnostics;
  const found = await client.sendRequest(CompletionRequest.type, {
    textDocument: { uri: "file:///kernels/mine.tir" },
    position: { line: 1, character: "  %y = mine.".length },
  });
  const labels = (Array.isArray(found) ? found : []).map(({ label }) => label);
  return { codes, shown, offered: labels.filter((label) => label.startsWith("mine.")) };
}

/** Of a server without the config: what the target is said to be first, the operator is found out when it compiles. */
const unknown = ["TC501"];

it("is the workspace's where the editor trusts it, and no other", async () => {
  expect(await told(folder, { trusted: true })).toEqual({ codes: [], shown: [], offered: ["mine.elements"] });
  for (const options of [undefined, {}, { trusted: false }, { trusted: "true" }])
    expect(await told(folder, options)).toEqual({ codes: unknown, shown: [], offered: [] });
});

it("is that of --config, whatever the editor trusts, and none with --no-config", async () => {
  expect((await told(tmpdir(), undefined, "--config", config)).offered).toEqual(["mine.elements"]);
  expect((await told(folder, { trusted: true }, "--no-config")).codes).toEqual(unknown);
});

it("is told, and left out, where it cannot be used", async () => {
  const { codes, shown } = await told(broken, { trusted: true });
  expect(codes).toEqual(unknown);
  expect(shown).toEqual([expect.stringContaining("a config has no tragets")]);
});
