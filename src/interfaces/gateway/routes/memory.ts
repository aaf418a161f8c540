import { z } from "zod";
import {
  agentMemory,
  sharedMemory,
  type MemoryPlace,
} from "../../../features/memory/operations.ts";
import { memoryPaths } from "../../../features/memory/memory-place.ts";
import { memoryTextQuery } from "../../../features/memory/memory-views.ts";
import { routesOf } from "../api/route.ts";
import type { GatewayDeps } from "../deps.ts";
import { sendFile } from "../send-file.ts";

const { get } = routesOf("Memory");
const params = z.object({
  name: z.string(),
  path: z.string().max(1024).meta({ description: "The file's path, which may have slashes" }),
});

/** Files of memories, byte for byte. */
export const memoryFileRoutes = (deps: GatewayDeps) => [
  fileRoute(memoryPaths.agent, agentMemory, deps),
  fileRoute(memoryPaths.shared, sharedMemory, deps),
];

function fileRoute(at: string, place: MemoryPlace, { context }: GatewayDeps) {
  return get(`${at}/files/*`, {
    summary: `A file of ${place.whose}, as an attachment`,
    params,
    query: memoryTextQuery.pick({ version: true }),
    produces: "application/octet-stream",
    problems: [404, 503],
    isAbout: (request, isMine) => place.isAbout(request.params, isMine),
    handle: async ({ params: { name, path }, query }, reply) => {
      const memory = place.nameOf(place.params.parse({ name }).name);
      const { bytes, content } = await context.memories.file(memory, path, query.version);
      return sendFile(reply, { path, bytes, content: content() });
    },
  });
}
