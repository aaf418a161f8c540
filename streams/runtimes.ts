/** The properties of each runtime. Code reads one of these and never compares the name of a runtime. */
interface Runtime {
  /** Completes "A run is a process …". */
  readonly summary: string;
  /** The description in `al agent new`. */
  readonly offer: string;
  /** Completes "Runs in …". */
  readonly place: (runAs: string) => string;
  /** Runs are processes of the OS user that `[runtime].run_as` names. */
  readonly runsAsUser: boolean;
  /** Runs start from an image, which is built or found before the first one. */
  readonly needsImage: boolean;
  /** Runs see only the files of this machine that are mounted. */
  readonly isolates: boolean;
  /** Runs are on other machines: they reach the scheduler by its door. */
  readonly isRemote: boolean;
  /** Enforces memory and cpus of `[local]`. */
  readonly hasLimits: boolean;
}

/** The environments in which runs are processes. A new runtime is an entry here and a runner in src/start/runtimes.ts. */
export const runtimes = {
  container: {
    summary: "runs each run in its own container",
    offer: "in a container, which needs Docker",
    place: () => "a container",
    runsAsUser: false,
    needsImage: true,
    isolates: true,
    isRemote: false,
    hasLimits: true,
  },
  cluster: {
    summary: "uses a container on a machine of the project's [cluster]",
    offer: "on a machine of the project's [cluster]",
    place: () => "a container on a machine of the cluster",
    runsAsUser: false,
    needsImage: true,
    isolates: true,
    isRemote: true,
    hasLimits: true,
  },
  "host-user": {
    summary: "starts a process as another OS user",
    offer: "as your own OS user: it can read what you can read",
    place: (runAs) =>
      runAs === "$USER"
        ? "a process of the scheduler's own OS user"
        : `a process of the OS user ${runAs}`,
    runsAsUser: true,
    needsImage: false,
    isolates: false,
    isRemote: false,
    hasLimits: false,
  },
} satisfies Readonly<Record<string, Runtime>>;

export type RuntimeType = keyof typeof runtimes;
export const runtimeTypes = Object.keys(runtimes) as RuntimeType[];
/** Default of an agent's config, without and with a `[cluster]` of its project. */
export const defaultRuntime: RuntimeType = "container";
export const defaultRuntimeInCluster: RuntimeType = "cluster";
