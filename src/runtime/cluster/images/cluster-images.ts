import type { AuthConfig } from "dockerode";
import { catchError, concat, concatMap, defer, map, of, switchMap, timer } from "rxjs";
import type { Observable } from "rxjs";
import type { AgentConfig } from "../../../../streams/agent-config.ts";
import type { BuildEvent } from "../../../../streams/vocabulary.ts";
import type { ClusterConfig } from "../../../foundation/config/cluster-place.ts";
import { reasonOf, Problem } from "../../../foundation/errors.ts";
import { engineMessage, isUnreachable, type Engine } from "../../runners/container/engine.ts";
import type { AgentImages } from "../../runners/container/images.ts";
import { declaredVolumes } from "../../runners/container/container-options.ts";
import { hub, registryOf } from "./registry-login.ts";
import { ndjsonLines } from "../../runners/container/image/build.ts";

type BuiltAgent = Pick<AgentConfig, "name" | "dockerfileHash">;

export interface ClusterImagesOptions {
  /** The engine of this machine, which builds and pushes. */
  readonly engine: Engine;
  readonly images: AgentImages;
  /** The active `[cluster]`. */
  readonly cluster: () => Pick<ClusterConfig, "image" | "registry">;
  /** The login to push the image; undefined if the registry needs none. */
  readonly loginFor: (image: string) => Promise<AuthConfig | undefined>;
}

/** Time between two attempts to push, in ms: the first, then doubled up to the last. */
const retryMs = { first: 5_000, last: 300_000 };

/** The image of `image`; by default built on this machine's engine, and pushed if there is a registry. */
export function createClusterImages(options: ClusterImagesOptions) {
  const { images, cluster } = options;
  const named = createNames(options);
  const imageFor = async (agent: BuiltAgent) => {
    const { image } = cluster();
    // Only the cluster's machines know the volumes that a configured image declares.
    if (image !== null) return { image: given(image, agent), volumes: [] };
    const id = await images.imageFor(agent as AgentConfig);
    return {
      image: await named(id, repoOf(agent)),
      volumes: await declaredVolumes(options.engine, id),
    };
  };
  const pushed = (agent: AgentConfig, waitMs = retryMs.first): Observable<BuildEvent> =>
    defer(() => imageFor(agent)).pipe(
      map(() => finished(null)),
      catchError((error: unknown) => {
        const failed = of(finished(reasonOf(error)));
        if (cluster().image !== null) return failed;
        const next = Math.min(2 * waitMs, retryMs.last);
        return concat(failed, timer(waitMs).pipe(switchMap(() => pushed(agent, next))));
      }),
    );
  return {
    /** Like `AgentImages.prepare`; a built image is pushed before it is ready. */
    prepare: (agent: AgentConfig): Observable<BuildEvent> =>
      defer(() => {
        const { image, registry } = cluster();
        if (image !== null) return pushed(agent);
        return images.prepare(agent).pipe(
          concatMap((event) => {
            if (event.type !== "build-finished" || !event.usable || registry === null)
              return of(event);
            return concat(of(pushing(registry)), pushed(agent));
          }),
        );
      }),
    /** Rejects with a Problem. */
    imageFor,
    /** An image with the program, of no agent. Rejects with a Problem. */
    programImage: async (): Promise<string> =>
      (await imageFor({ name: "", dockerfileHash: null })).image,
  };
}

/** The names of images on the machines, by their ids here: each is pushed once. */
function createNames({ engine, cluster, loginFor }: ClusterImagesOptions) {
  const pushed = new Map<string, Promise<string>>();
  const push = async (id: string, name: string): Promise<string> => {
    await pushImage(engine, id, name, await loginFor(name));
    return name;
  };
  return async (id: string, repo: string): Promise<string> => {
    const { registry } = cluster();
    if (registry === null) return nameHere(engine, id, repo);
    const name = `${registry}/${repo}:${id.replace(/^sha256:/, "").slice(0, 12)}`;
    const pushing = pushed.get(name) ?? push(id, name);
    pushed.set(name, pushing);
    pushing.catch(() => pushed.delete(name));
    return pushing;
  };
}

/** The name with a hash of the contents: machines may have another project's image under `latest`. */
async function nameHere(engine: Engine, id: string, repo: string): Promise<string> {
  const { RepoTags } = await engine.calls().getImage(id).inspect();
  const own = RepoTags.filter((name) => name.startsWith(`${repo}:`));
  const given = RepoTags.find((name) => registryOf(name) === hub);
  return own.find((name) => /[:-][0-9a-f]{12}$/.test(name)) ?? given ?? RepoTags[0] ?? id;
}

function repoOf({ name, dockerfileHash }: BuiltAgent): string {
  return dockerfileHash === null ? "al-agent" : `al-agent-${name}`;
}

function given(image: string, { name, dockerfileHash }: BuiltAgent): string {
  if (dockerfileHash === null) return image;
  throw new Problem(
    "image_given",
    `agents/${name} has a Dockerfile, but runs in the cluster use the image ${image} of [cluster]`,
    `remove the Dockerfile, or write registry instead of image under [cluster]; or set type = "container" under [runtime] of the agent`,
  );
}

function pushing(registry: string): BuildEvent {
  return { type: "build-progress", text: `pushing to ${registry}` };
}

function finished(error: string | null): BuildEvent {
  return { type: "build-finished", error, usable: error === null };
}

interface PushLine {
  readonly error?: string;
}

/** Tags the image and pushes it to the registry in its name. Rejects with a Problem. */
async function pushImage(
  engine: Engine,
  id: string,
  name: string,
  auth: AuthConfig | undefined,
): Promise<void> {
  const [, repo = "", tag = ""] = /^(.+):([^:/]+)$/.exec(name) ?? [];
  try {
    await engine.calls().getImage(id).tag({ repo, tag });
    // The engine requires the header even without a login.
    const image = engine.streams().getImage(repo);
    const answer = await image.push({ tag, authconfig: auth ?? {} });
    for await (const { error } of ndjsonLines<PushLine>(answer)) {
      if (error !== undefined) throw new Error(error);
    }
  } catch (error) {
    if (error instanceof Problem || isUnreachable(error)) throw error;
    throw new Problem(
      "push_failed",
      `the image ${name} could not be pushed: ${engineMessage(error)}`,
      {
        hint: `run docker login ${registryOf(name)}, or set another registry under [cluster]`,
        cause: error,
      },
    );
  }
}
