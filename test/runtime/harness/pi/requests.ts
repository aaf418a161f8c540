import { fakeProvider, refusing, type SeenRequest } from "../fake-provider.ts";
import { aModel } from "../jobs.ts";
import type { HostedModel } from "../model-host.ts";
import { runSession } from "./run-session.ts";
import { tempDir } from "../../../helpers/temp-dir.ts";

/** A model that is asked on this machine. */
export type AskedModel = Partial<Omit<HostedModel, "baseUrl">>;

export interface Asked {
  /** The path behind the host and the number. */
  readonly path: string;
  readonly headers: SeenRequest["headers"];
  readonly body: Readonly<Record<string, unknown>>;
}

/** The first request that each model's provider receives: one run falls back from one refused model to the next. */
export async function requestsOf(models: readonly AskedModel[]): Promise<readonly Asked[]> {
  const workDir = tempDir();
  const upstream = await fakeProvider(refusing(400, "not today"));
  const { origin } = new URL(upstream.baseUrl);
  const chain = models.map((model, index) => aModel(`m${index}`, `${origin}/${index}`, model));
  try {
    await runSession({ workDir, models: chain });
  } finally {
    await upstream.close();
  }
  return models.map(({ model }, index) => {
    const start = `/${index}/`;
    const found = upstream.requests.find(({ path }) => path.startsWith(start));
    if (found === undefined) throw new Error(`no request came for ${model ?? `model ${index}`}`);
    const body = found.body as Asked["body"];
    return { path: found.path.slice(start.length - 1), headers: found.headers, body };
  });
}
