/** The language server of `.tir`: documents in, answers out, by the language server protocol. */
import { defined } from "../../ir/defined.js";
import { fileURLToPath } from "node:url";
import {
  CodeActionKind,
  createConnection,
  DiagnosticSeverity,
  MessageType,
  ProposedFeatures,
  ShowMessageNotification,
  TextDocuments,
  TextDocumentSyncKind,
  type Connection,
  type Diagnostic as LspDiagnostic,
  type InitializeParams,
  type Range as LspRange,
} from "vscode-languageserver/node";
import { TextDocument } from "vscode-languageserver-textdocument";
import type { Diagnostic, Severity } from "../../ir/index.js";
import { isObject } from "../../backends/index.js";
import { ConfigError } from "../config/config-error.js";
import { openProject } from "../config/open-project.js";
import { noProject, type Project } from "../config/project.js";
import { definition, diagnose, fixOf, formatted, hover, rangeOf, type TextRange } from "./analysis.js";
import { completions } from "./completions.js";
import { fileOf } from "./file-of.js";
import { Judgements } from "./judgements.js";
import { compilingBy, type Settings } from "./settings.js";

const severities: Readonly<Record<Severity, DiagnosticSeverity>> = {
  error: DiagnosticSeverity.Error,
  warning: DiagnosticSeverity.Warning,
  hint: DiagnosticSeverity.Hint,
};

const settingsOf = ({ findTarget, operators, pipeline, profile }: Project): Settings => ({
  findTarget,
  ...defined({ profile, operators, passes: pipeline }),
});

const lspRange = ({ start, end }: TextRange): LspRange => ({
  start: { line: start.line, character: start.column },
  end: { line: end.line, character: end.column },
});

/**
 * Runs the language server on stdin and stdout until the client exits. `project`: contents of the config
 * file. Without `project`, the config of the client's workspace is used if the client sets `trusted: true` in
 * `initializationOptions`.
 */
export function serveStdio(project?: Project): void {
  serve(createConnection(ProposedFeatures.all, process.stdin, process.stdout), project);
}

/**
 * Resolves to the contents of the config in the first workspace folder, or to `noProject` if the client does
 * not trust the workspace or the config is invalid. `tell`: receives the error message.
 */
async function trustedProject(
  { initializationOptions, workspaceFolders }: InitializeParams,
  tell: (message: string) => void,
): Promise<Project> {
  const options: unknown = initializationOptions;
  const folder = workspaceFolders?.[0]?.uri;
  if (!isObject(options) || options["trusted"] !== true || folder?.startsWith("file:") !== true)
    return noProject;
  try {
    return await openProject(undefined, fileURLToPath(folder));
  } catch (thrown) {
    if (!(thrown instanceof ConfigError)) throw thrown;
    tell(thrown.message);
    return noProject;
  }
}

/**
 * Registers the language server's handlers on a connection and starts to listen. `given`: contents of the
 * config file; undefined to use the config of the client's workspace.
 */
function serve(connection: Connection, given: Project | undefined): void {
  let settings = settingsOf(given ?? noProject);
  const documents = new TextDocuments(TextDocument);
  const judgements = new Map<string, Judgements>();
  connection.onInitialize(async (params) => {
    if (given === undefined) {
      const project = await trustedProject(params, (message) => {
        void connection.sendNotification(ShowMessageNotification.type, { type: MessageType.Error, message });
      });
      settings = settingsOf(project);
    }
    return {
      capabilities: {
        textDocumentSync: TextDocumentSyncKind.Incremental,
        hoverProvider: true,
        definitionProvider: true,
        completionProvider: { triggerCharacters: ["{", ",", "=", " "] },
        documentFormattingProvider: true,
        codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
      },
      serverInfo: { name: "tilec" },
    };
  });
  documents.onDidChangeContent(({ document }) => {
    const { uri, version } = document;
    const before = judgements.get(uri) ?? new Judgements(compilingBy(settings));
    judgements.set(uri, before);
    const diagnostics = diagnose(document.getText(), fileOf(uri), settings, before).map(presented);
    void connection.sendDiagnostics({ uri, version, diagnostics });
  });
  documents.onDidClose(({ document: { uri } }) => {
    judgements.delete(uri);
    void connection.sendDiagnostics({ uri, diagnostics: [] });
  });
  connection.onHover(({ textDocument: { uri }, position }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const place = { line: position.line, column: position.character };
    const value = hover(text, fileOf(uri), place, settings);
    return value === undefined ? null : { contents: { kind: "markdown", value } };
  });
  connection.onCompletion(({ textDocument: { uri }, position: { line, character } }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const items = completions(text, { line, column: character }, settings.operators);
    if (items === undefined) return null;
    const range = { start: { line, character: items.from }, end: { line, character } };
    return items.options.map(({ label, detail }) => ({ label, detail, textEdit: { range, newText: label } }));
  });
  connection.onDefinition(({ textDocument: { uri }, position }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const range = definition(text, { line: position.line, column: position.character });
    return range === undefined ? null : { uri, range: lspRange(range) };
  });
  connection.onDocumentFormatting(({ textDocument: { uri } }) => {
    const document = documents.get(uri);
    const text = document === undefined ? undefined : formatted(document.getText(), fileOf(uri));
    if (document === undefined || text === undefined) return null;
    const end = document.positionAt(document.getText().length);
    return [{ range: { start: { line: 0, character: 0 }, end }, newText: text }];
  });
  connection.onCodeAction(({ textDocument: { uri }, range }) => {
    const text = documents.get(uri)?.getText() ?? "";
    const before = judgements.get(uri) ?? new Judgements(compilingBy(settings));
    return diagnose(text, fileOf(uri), settings, before).flatMap((diagnostic) => {
      const { start, end } = rangeOf(diagnostic);
      if (start.line > range.end.line || end.line < range.start.line) return [];
      const fix = fixOf(text, fileOf(uri), diagnostic, settings, before);
      if (fix === undefined) return [];
      const edit = { changes: { [uri]: [{ range: lspRange(fix.range), newText: fix.text }] } };
      return [
        { title: fix.title, kind: CodeActionKind.QuickFix, diagnostics: [presented(diagnostic)], edit },
      ];
    });
  });
  documents.listen(connection);
  connection.listen();
}

const presented = (diagnostic: Diagnostic): LspDiagnostic => {
  const { severity, code, message, notes = [], hint } = diagnostic;
  const said = [
    message,
    ...notes.map((note) => `note: ${note}`),
    ...(hint === undefined ? [] : [`hint: ${hint}`]),
  ];
  return {
    range: lspRange(rangeOf(diagnostic)),
    severity: severities[severity],
    code,
    source: "tilec",
    message: said.join("\n"),
  };
};
