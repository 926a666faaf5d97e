/** The fields of log entries, read from the sources: what a logger is given beside its message. */
import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import ts from "typescript";

const ROOT = path.join(import.meta.dirname, "../..");
const LEVELS = new Set(["debug", "info", "warn", "error"]);

export function loggedFields(): ReadonlySet<string> {
  const names = new Set<string>();
  for (const file of globSync("src/**/*.ts", { cwd: ROOT })) {
    if (!readFileSync(path.join(ROOT, file), "utf8").includes("ogger")) continue;
    const source = parse(file);
    const visit = (node: ts.Node): void => {
      if (ts.isCallExpression(node) && isLogCall(node)) {
        const [, fields] = node.arguments;
        if (fields !== undefined) gatherNames(fields, source, names);
      }
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  for (const name of noticeFields()) names.add(name);
  return names;
}

function isLogCall({ expression, arguments: given }: ts.CallExpression): boolean {
  if (!ts.isPropertyAccessExpression(expression) || !LEVELS.has(expression.name.text)) return false;
  return /logger\??$/i.test(expression.expression.getText()) && given.length >= 1;
}

/** A variable is looked up where it is declared; a spread of one likewise. */
function gatherNames(node: ts.Node, source: ts.SourceFile, names: Set<string>): void {
  if (ts.isObjectLiteralExpression(node)) {
    for (const property of node.properties) {
      if (ts.isSpreadAssignment(property)) gatherNames(property.expression, source, names);
      else names.add(property.name.getText().replaceAll('"', ""));
    }
    return;
  }
  if (!ts.isIdentifier(node)) return;
  const visit = (one: ts.Node): void => {
    const isDeclared = ts.isVariableDeclaration(one) && one.name.getText() === node.text;
    if (isDeclared && one.initializer !== undefined) gatherNames(one.initializer, source, names);
    ts.forEachChild(one, visit);
  };
  visit(source);
}

/** Notices of the core are logged with all that they hold. */
function noticeFields(): readonly string[] {
  const names: string[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isPropertySignature(node)) names.push(node.name.getText());
    ts.forEachChild(node, visit);
  };
  for (const statement of parse("src/consensus/effect.ts").statements) {
    if (ts.isTypeAliasDeclaration(statement) && statement.name.text === "Notice") visit(statement);
  }
  return names;
}

function parse(file: string): ts.SourceFile {
  const text = readFileSync(path.join(ROOT, file), "utf8");
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}
