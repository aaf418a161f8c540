import { mountedSocketDir } from "../../foundation/contracts/run-api.ts";
import { memoryBytes, workDir } from "../runners/container/container-options.ts";
import { containerUser } from "../runners/container/image/dockerfile.ts";
import type { Launch } from "./cluster-engine.ts";

/** A folder in memory that a run can write to; the rest of its files is read-only. */
export interface WritableFolder {
  readonly path: string;
  readonly bytes: number;
  /** As `chmod` writes it. */
  readonly mode: string;
  /** Null for root's. */
  readonly owner: { readonly uid: number; readonly gid: number } | null;
  /** Whether programs are to start from it: tools and scripts that an agent fetches. */
  readonly isForPrograms: boolean;
}

/** For the run's socket and the reason of its stop. */
const socketDirBytes = 1024 * 1024;

/**
 * What is in these folders, with those that the image declares as volumes, counts as the run's memory; half of it a
 * folder, as in containers on this machine.
 */
export function writableFolders({
  limits: { memory },
  volumes,
}: Pick<Launch, "limits" | "volumes">): readonly WritableFolder[] {
  const bytes = Math.floor(memoryBytes(memory) / 2);
  const { uid, gid, home } = containerUser;
  const own = { mode: "0700", owner: { uid, gid }, isForPrograms: true };
  return [
    ...["/tmp", ...volumes].map((path) => ({
      path,
      bytes,
      mode: "1777",
      owner: null,
      isForPrograms: true,
    })),
    { path: workDir, bytes, ...own },
    { path: home, bytes, ...own },
    {
      path: mountedSocketDir,
      bytes: socketDirBytes,
      mode: "1777",
      owner: null,
      isForPrograms: false,
    },
  ];
}

/** The kernel's options for such a folder. */
export function tmpfsOptions({ bytes, mode, owner, isForPrograms }: WritableFolder): string {
  const whose = owner === null ? "" : `,uid=${owner.uid},gid=${owner.gid}`;
  const programs = isForPrograms ? "exec" : "noexec";
  return `size=${bytes},mode=${mode}${whose},nosuid,nodev,${programs}`;
}
