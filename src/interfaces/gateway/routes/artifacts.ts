import { z } from "zod";
import { mediaType } from "../../../features/artifacts/file-kind.ts";
import { mustHaveArtifact } from "../../../features/artifacts/operations.ts";
import { instanceParams } from "../../../foundation/contracts/params.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";
import { sendFile } from "../send-file.ts";

const { get } = routesOf("Artifacts");

/** Files of runs, which strangers may have written: they never become pages of this origin. */
export const artifactRoutes = ({ context }: GatewayDeps) => [
  get("/api/runs/:instanceId/files/*", {
    summary: "A file that a run left, as an attachment",
    description: "The path is the file's own, with `/` between its names.",
    params: instanceParams.extend({ path: z.string().meta({ description: "The file's path" }) }),
    produces: "application/octet-stream",
    problems: [404],
    handle: ({ params: { instanceId, path } }, reply) => {
      const { hash, bytes, kind } = mustHaveArtifact(context.artifacts, instanceId, path);
      const content = context.blobs.read(hash);
      return sendFile(reply, { path, bytes, content, mediaType: mediaType(kind) });
    },
  }),
];
