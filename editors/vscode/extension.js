// Attaches mem-lsp to Markdown files, wherever they lie: the memory of a project is
// mostly not in the folder that is open. What is a memory is for the server to say.
'use strict';
const { execFile } = require('node:child_process');
const os = require('node:os');
const path = require('node:path');
const vscode = require('vscode');
const { LanguageClient, RevealOutputChannelOn } = require('vscode-languageclient/node');

let client;

// Client leaves it to us to say that there is no server: its own message does not say what
// to do about it.
class Client extends LanguageClient {
  error(message, data, showNotification) {
    super.error(message, data, this.isRunning() ? showNotification : false);
  }
}

function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('mem.openMemory', openMemory),
    vscode.commands.registerCommand('mem.restart', restart),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration('mem.server.path') && restart()),
  );
  return start();
}

function deactivate() {
  return stop();
}

async function start() {
  const command = setting('server.path');
  // Not in the folder that is open: some systems look for programs there first, and a
  // folder may bring one of that name.
  const options = { cwd: os.homedir() };
  client = new Client('mem', 'mem', { command, args: ['serve'], options }, {
    documentSelector: [
      { scheme: 'file', language: 'markdown' },
      { scheme: 'file', language: 'yaml', pattern: '**/.mem.yaml' },
    ],
    revealOutputChannelOn: RevealOutputChannelOn.Never, // what matters is shown as a message
    initializationFailedHandler: () => false,
  });
  try {
    await client.start();
  } catch (err) {
    missing(command, 'mem.server.path', err);
  }
}

async function stop() {
  const was = client;
  client = undefined;
  if (was && was.needsStop()) await was.stop();
}

async function restart() {
  await stop();
  await start();
}

// openMemory opens the index of the memory that agents have of the open project.
async function openMemory() {
  const folder = await project();
  if (!folder) {
    vscode.window.showErrorMessage('mem: open the folder of a project first; its memory is looked for by that.');
    return;
  }
  const command = setting('command.path');
  execFile(command, ['where', '--json', '--project', folder], { cwd: os.homedir(), timeout: 10_000, maxBuffer: 1 << 20 }, (err, stdout, stderr) => {
    if (err && err.code === 'ENOENT') {
      missing(command, 'mem.command.path', err);
      return;
    }
    let directory;
    try {
      directory = JSON.parse(stdout).directory;
    } catch {
      directory = '';
    }
    if (!directory) {
      vscode.window.showErrorMessage(`mem: ${command} where says of ${folder}: ${(stderr || (err && err.message) || 'nothing').trim().slice(0, 500)}`);
      return;
    }
    vscode.window.showTextDocument(vscode.Uri.file(path.join(directory, 'MEMORY.md'))).then(undefined, (why) => {
      vscode.window.showInformationMessage(`mem: this project has no index yet in ${directory}: ${String(why.message || why).slice(0, 300)}`);
    });
  });
}

// project gives the folder of what is being edited, else the one that is open.
async function project() {
  const folders = vscode.workspace.workspaceFolders || [];
  const active = vscode.window.activeTextEditor && vscode.workspace.getWorkspaceFolder(vscode.window.activeTextEditor.document.uri);
  const folder = active || (folders.length > 1 ? await vscode.window.showWorkspaceFolderPick() : folders[0]);
  return folder && folder.uri.scheme === 'file' ? folder.uri.fsPath : undefined;
}

function setting(name) {
  return vscode.workspace.getConfiguration('mem').get(name);
}

function missing(command, name, err) {
  const settings = 'Open Settings';
  const text = `mem: ${command} does not start: ${String(err.message || err).slice(0, 300)}. Install it, or say where it is in the setting ${name}.`;
  vscode.window.showErrorMessage(text, settings).then((answer) => {
    if (answer === settings) vscode.commands.executeCommand('workbench.action.openSettings', name);
  });
}

module.exports = { activate, deactivate };
