/** A child process of the conformance run: gets files to run, answers with their outcomes. */
import { loadFixtures } from "./fixture-data.ts";
import { runFixture } from "./run-fixture.ts";

export type Task = { readonly folder: string; readonly files: readonly string[] };

process.on("message", (message) => {
  const { folder, files } = message as Task;
  const outcomes = files.flatMap((file) => loadFixtures(folder, file).flatMap(runFixture));
  process.send?.(outcomes);
});
