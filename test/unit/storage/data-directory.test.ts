import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, it } from "node:test";
import { CodedError } from "../../../src/base/coded-error.ts";
import { assertLocal, DataDirectory } from "../../../src/storage/data-directory.ts";
import { freeBytes } from "../../../src/storage/disk-space.ts";
import { lastReported, runUntil } from "./child-process.ts";
import { LOCK_HOLDER } from "./lock-holder.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

function openFailure(directory: string): CodedError {
  try {
    DataDirectory.open(directory).close();
  } catch (error) {
    assert.ok(error instanceof CodedError);
    return error;
  }
  return assert.fail("it was opened");
}

describe("a data directory", () => {
  it("belongs to one owner until it is closed", (test) => {
    const directory = path.join(temporaryDirectory(test), "new", "data");
    const owner = DataDirectory.open(directory);
    const { code, data } = openFailure(directory);
    assert.equal(code, "DATA_DIRECTORY_IN_USE");
    assert.deepEqual([data["pid"], data["path"]], [process.pid, directory]);
    owner.close();
    DataDirectory.open(directory).close();
  });

  it("is refused while another process has it, and free once that was killed", async (test) => {
    const directory = temporaryDirectory(test);
    let failure: CodedError | undefined;
    const { lines, signal } = await runUntil([process.execPath, LOCK_HOLDER, directory], (seen) => {
      if (seen.length === 0) return false;
      failure ??= openFailure(directory);
      return true;
    });
    assert.equal(signal, "SIGKILL");
    assert.equal(failure?.code, "DATA_DIRECTORY_IN_USE");
    assert.equal(failure.data["pid"], lastReported(lines, "holds"));
    DataDirectory.open(directory).close();
  });

  it("is not held by what a dead process left, even under our own id", (test) => {
    const directory = temporaryDirectory(test);
    DataDirectory.open(directory).close();
    writeFileSync(path.join(directory, "lock.pid"), `${process.pid}\n`);
    DataDirectory.open(directory).close();
  });

  it("is refused on file systems of a network", { skip: process.platform !== "linux" }, () => {
    const networks = { NFS: 0x6969, CIFS: 0xff534d42 | 0, SMB2: 0xfe534d42, FUSE: 0x65735546 };
    for (const [name, type] of Object.entries(networks)) {
      assert.throws(
        () => assertLocal("/data", type),
        (error) =>
          error instanceof CodedError &&
          error.code === "DATA_DIRECTORY_ON_NETWORK_FILE_SYSTEM" &&
          error.data["fileSystem"] === name,
        name,
      );
    }
    const locals = { ext4: 0xef53, xfs: 0x58465342, btrfs: 0x9123683e, tmpfs: 0x01021994 };
    for (const type of Object.values(locals)) assertLocal("/data", type);
  });

  it("knows how much room it has", (test) => {
    assert.ok(freeBytes(temporaryDirectory(test)) > 0);
  });
});
