import { randomUUID } from "node:crypto";
import { Readable } from "node:stream";
import { finished } from "node:stream/promises";
import { filter, firstValueFrom, lastValueFrom, of, take, tap, toArray } from "rxjs";
import type { AuthConfig } from "dockerode";
import { createClusterImages } from "../../../../src/runtime/cluster/images/cluster-images.ts";
import type { AgentImages } from "../../../../src/runtime/runners/container/images.ts";
import { anAgent } from "../../../helpers/agents.ts";
import { engineSetupMs, testEngine } from "../../../helpers/docker.ts";
import { standInRegistry } from "../../../helpers/stand-in-registry.ts";
import { like } from "../../../helpers/like.ts";

const { engine, missing } = await testEngine();
const dev = anAgent("dev");

describe.skipIf(missing !== null)("the images of a cluster", () => {
  const name = `al-test-empty:${randomUUID().slice(0, 8)}`;
  let id: string;
  beforeAll(async () => {
    const [repo, tag] = name.split(":");
    const noFiles = Readable.from([Buffer.alloc(1024)], { objectMode: false });
    const answer = await engine
      .calls()
      .importImage(noFiles, { repo, tag, changes: ["VOLUME /vol"] });
    answer.resume();
    await finished(answer);
    ({ Id: id } = await engine.calls().getImage(name).inspect());
  }, engineSetupMs);
  afterAll(() => engine.calls().getImage(name).remove({ force: true }));

  /** The image is one that is on the engine: how it is built is the container runtime's. */
  const imagesWith = (
    cluster: { readonly image?: string; readonly registry?: string },
    login?: AuthConfig,
  ) => {
    const images: AgentImages = {
      prepare: () => of({ type: "build-finished", error: null, usable: true } as const),
      imageFor: () => Promise.resolve(id),
    };
    return createClusterImages({
      engine,
      images,
      cluster: () => ({ image: null, registry: null, ...cluster }),
      loginFor: () => Promise.resolve(login),
    });
  };
  const registryFor = async (login?: string) => {
    const registry = await standInRegistry(login);
    onTestFinished(async () => {
      for (const pushed of registry.names()) {
        const image = engine.calls().getImage(`${registry.host}/${pushed}`);
        await image.remove().catch(() => undefined);
      }
      await registry.close();
    });
    return registry;
  };
  const own = anAgent("own", { dockerfileHash: "1" });

  test("are pushed once, and named by the registry", async () => {
    const registry = await registryFor();
    const images = imagesWith({ registry: `${registry.host}/team` });
    const events = await lastValueFrom(images.prepare(dev).pipe(toArray()));
    expect(events).toEqual([
      { type: "build-progress", text: `pushing to ${registry.host}/team` },
      { type: "build-finished", error: null, usable: true },
    ]);
    const hash = id.replace("sha256:", "").slice(0, 12);
    const image = `${registry.host}/team/al-agent:${hash}`;
    expect([(await images.imageFor(dev)).image, await images.programImage()]).toEqual([
      image,
      image,
    ]);
    expect(registry.names()).toEqual([`team/al-agent:${hash}`]);
    expect((await images.imageFor(own)).image).toBe(image.replace("al-agent", "al-agent-own"));
  });

  test("are pushed with the credentials of their registry", async () => {
    const { host } = await registryFor("me:s3cret");
    const login = { username: "me", password: "s3cret", serveraddress: host };
    const { image } = await imagesWith({ registry: host }, login).imageFor(dev);
    expect(image).toContain(host);
    await expect(imagesWith({ registry: host }).imageFor(dev)).rejects.toMatchObject({
      message: like("could not be pushed"),
      hint: like(`run docker login ${host}`),
    });
  });

  test("are pushed once their registry is back", async () => {
    const registry = await registryFor();
    registry.refuse(true);
    const ends = imagesWith({ registry: registry.host })
      .prepare(dev)
      .pipe(
        filter((event) => event.type === "build-finished"),
        tap(() => registry.refuse(false)),
        take(2),
        toArray(),
      );
    expect(await lastValueFrom(ends)).toMatchObject([
      {
        usable: false,
        error: like(/could not be pushed: .+; run docker login/s),
      },
      { usable: true, error: null },
    ]);
  });

  test("without a registry have a name and their volumes", async () =>
    expect(await imagesWith({}).imageFor(dev)).toEqual({ image: name, volumes: ["/vol"] }));

  test("with a configured one reject an agent's own Dockerfile", async () => {
    const image = "registry.example.com/al-agent:3";
    const images = imagesWith({ image });
    expect((await images.imageFor(dev)).image).toBe(image);
    expect(await images.programImage()).toBe(image);
    const event = await firstValueFrom(images.prepare(own));
    expect(event).toMatchObject({ type: "build-finished", usable: false });
    expect(JSON.stringify(event)).toMatch(/agents\/own has a Dockerfile.+remove the Dockerfile/);
  });
});
