import { Readable } from "node:stream";
import { z } from "zod";
import { mediaType } from "../../../features/artifacts/file-kind.ts";
import { mustHaveArtifact } from "../../../features/artifacts/operations.ts";
import { instanceParams } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";

const { get } = routesOf("Artifacts");

/** Files of runs, which strangers may have written: they never become pages of this origin. */
export const artifactRoutes = ({ context }: GatewayDeps) => [
  get("/api/runs/:instanceId/files/*", {
    summary: "A file that a run left, as an attachment",
    description: "The path is the file's own, with `/` between its names.",
    params: instanceParams.extend({ path: z.string().meta({ description: "The file's path" }) }),
    produces: "application/octet-stream",
    problems: [404],
    handle: async ({ params: { instanceId, path } }, reply) => {
      const { hash, bytes, kind } = mustHaveArtifact(context.artifacts, instanceId, path);
      const content = Readable.from(context.blobs.read(hash), { objectMode: false });
      return reply
        .type(mediaType(kind))
        .headers({
          "content-disposition": attachment(path),
          "content-length": bytes,
          "content-security-policy": "sandbox;default-src 'none';frame-ancestors 'none'",
          "cache-control": "private, no-cache",
        })
        .send(content);
    },
  }),
];

/** RFC 6266: a plain name, and beside it the whole one in UTF-8. */
function attachment(path: string): string {
  const name = path.split("/").at(-1) ?? "";
  const plain = name.replace(/[^\w.-]/g, "_");
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name).replace(/['()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)}`;
}
