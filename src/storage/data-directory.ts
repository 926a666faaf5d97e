/**
 * The directory that one node owns. The lock is one of the kernel (fcntl, through SQLite, as Node
 * has no call for it): it goes when its process goes, however that ended. A file with a process id
 * would not do, because in a container the next process often has the id of the last.
 */
import { mkdirSync, readFileSync, statfsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { CodedError } from "../base/coded-error.ts";

export type DataDirectoryOptions = {
  /** For file systems that are known to support memory maps and locks all the same. */
  readonly allowsNetworkFileSystem?: boolean;
};

const LOCK_NAME = "lock";
/** For people: who holds the lock. The file alone locks nothing. */
const HOLDER_NAME = "lock.pid";

/**
 * Types of statfs(2) on Linux whose memory maps or locks are not those of one machine. FUSE is
 * among them because the file system behind it is unknown.
 */
const NETWORK_FILE_SYSTEMS: ReadonlyMap<number, string> = new Map([
  [0x6969, "NFS"],
  [0x517b, "SMB"],
  [0xfe534d42, "SMB2"],
  [0xff534d42, "CIFS"],
  [0x5346414f, "AFS"],
  [0x6b414653, "AFS"],
  [0x73757245, "Coda"],
  [0x01021997, "9P"],
  [0x00c36400, "Ceph"],
  [0x0bd00bd0, "Lustre"],
  [0x47504653, "GPFS"],
  [0x7461636f, "OCFS2"],
  [0x01161970, "GFS2"],
  [0x65735546, "FUSE"],
]);

export class DataDirectory {
  readonly path: string;
  readonly #lock: DatabaseSync;

  private constructor(directory: string, lock: DatabaseSync) {
    this.path = directory;
    this.#lock = lock;
  }

  /** Makes the directory if it is not there, and takes it for this process alone. */
  static open(directory: string, options: DataDirectoryOptions = {}): DataDirectory {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (options.allowsNetworkFileSystem !== true) {
      assertLocal(directory, statfsSync(directory).type);
    }
    return new DataDirectory(directory, takeLock(directory));
  }

  close(): void {
    this.#lock.close();
  }
}

/** LMDB maps its file into memory and locks it; over a network both fail silently. */
export function assertLocal(directory: string, fileSystemType: number): void {
  // Node gives the signed or the unsigned form, as the platform has it.
  const fileSystem = NETWORK_FILE_SYSTEMS.get(fileSystemType >>> 0);
  if (process.platform !== "linux" || fileSystem === undefined) return;
  throw new CodedError("DATA_DIRECTORY_ON_NETWORK_FILE_SYSTEM", {
    path: directory,
    fileSystem,
    advice: "put the data directory on a local disk",
  });
}

function takeLock(directory: string): DatabaseSync {
  const lock = new DatabaseSync(path.join(directory, LOCK_NAME), { timeout: 0 });
  const holderPath = path.join(directory, HOLDER_NAME);
  try {
    // Nothing is written to the database: it serves only as a lock.
    lock.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    lock.close();
    throw new CodedError(
      "DATA_DIRECTORY_IN_USE",
      {
        pid: readHolder(holderPath),
        path: directory,
        advice: "stop that process or use another data directory",
      },
      error,
    );
  }
  writeFileSync(holderPath, `${process.pid}\n`);
  return lock;
}

function readHolder(holderPath: string): number | undefined {
  try {
    return Number.parseInt(readFileSync(holderPath, "utf8"), 10);
  } catch {
    return undefined;
  }
}
