// The client of pipec-lsp.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

import * as vscode from "vscode";
import { ExecuteCommandRequest, LanguageClient, TransportKind } from "vscode-languageclient/node";

/** The answer to `pipec.showTimeline`. */
interface Timeline {
  title: string;
  format: string;
  text: string;
}

/** The part of the answer to `pipec.search` that is shown. */
interface FoundSchedule {
  text?: string;
}

const languages = ["pipe", "pipec-steps"];
let client: LanguageClient | undefined;
/** The open pictures, by the URI of their document. */
const panels = new Map<string, vscode.WebviewPanel>();

/** Opens the program that a search has found beside the one that it is for. */
async function openFound(found: FoundSchedule | undefined): Promise<void> {
  if (found?.text) {
    const document = await vscode.workspace.openTextDocument({ language: "pipe", content: found.text });
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true });
  }
}

async function start(): Promise<void> {
  const command = vscode.workspace.getConfiguration("pipec").get<string>("server.path") || "pipec-lsp";
  client = new LanguageClient(
    "pipec",
    "pipec",
    { command, transport: TransportKind.stdio },
    {
      documentSelector: languages.map((language) => ({ language })),
      middleware: {
        // The code lenses run commands of the server.
        executeCommand: async (command, args, next) => {
          const answer: unknown = await next(command, args);
          if (command === "pipec.search") {
            await openFound(answer as FoundSchedule | undefined);
          }
          return answer;
        },
      },
    },
  );
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    const chosen = await vscode.window.showErrorMessage(
      `The language server \`${command}\` could not be started: ${error}`,
      "Open Settings",
    );
    if (chosen) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "pipec.server.path");
    }
  }
}

async function stop(): Promise<void> {
  const running = client;
  client = undefined;
  await running?.stop();
}

/** Draws the first schedule of a document; undefined if there is none that can run. */
async function timelineOf(uri: vscode.Uri): Promise<Timeline | undefined> {
  if (!client) {
    void vscode.window.showErrorMessage("The language server does not run.");
    return undefined;
  }
  try {
    return (await client.sendRequest(ExecuteCommandRequest.type, {
      command: "pipec.showTimeline",
      arguments: [client.code2ProtocolConverter.asUri(uri)],
    })) as Timeline;
  } catch (error) {
    void vscode.window.showErrorMessage(`${error instanceof Error ? error.message : error}`);
    return undefined;
  }
}

async function openTimeline(): Promise<void> {
  const document = vscode.window.activeTextEditor?.document;
  if (!document || !languages.includes(document.languageId)) {
    return;
  }
  const timeline = await timelineOf(document.uri);
  if (!timeline) {
    return;
  }
  const key = document.uri.toString();
  let panel = panels.get(key);
  if (!panel) {
    panel = vscode.window.createWebviewPanel("pipec.timeline", timeline.title, vscode.ViewColumn.Beside, {
      enableScripts: true,
      retainContextWhenHidden: true,
    });
    panel.onDidDispose(() => panels.delete(key));
    panels.set(key, panel);
  }
  panel.title = timeline.title;
  panel.webview.html = timeline.text;
  panel.reveal(undefined, true);
}

/** Draws the picture of a saved document again, if it is open. */
async function refresh(document: vscode.TextDocument): Promise<void> {
  const panel = panels.get(document.uri.toString());
  const timeline = panel && (await timelineOf(document.uri));
  // It may have been closed in the meantime.
  if (panel && timeline && panels.get(document.uri.toString()) === panel) {
    panel.title = timeline.title;
    panel.webview.html = timeline.text;
  }
}

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("pipec.openTimeline", openTimeline),
    vscode.commands.registerCommand("pipec.restart", async () => {
      await stop();
      await start();
    }),
    vscode.workspace.onDidSaveTextDocument(refresh),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await stop();
}
