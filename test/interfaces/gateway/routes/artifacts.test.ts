import { aRunView } from "../../../helpers/run-view.ts";
import { openApp } from "../start-gateway.ts";

const run = "dev-aaaaaaaa";
const png = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const page = "<script>alert(document.domain)</script>";

async function withFiles(files: Readonly<Record<string, string | Buffer>>) {
  const app = await openApp();
  app.operations.runs.set(run, aRunView(run));
  app.operations.artifacts.set(run, files, { dropped: 1 });
  return app;
}

describe("GET /api/runs/:instanceId/files", () => {
  test("lists files in order, files that were not kept, and the total size", async () => {
    const { get } = await withFiles({ "a.sh": "echo", "b/chart.png": png });
    expect((await get(`/api/runs/${run}/files`)).json()).toMatchObject({
      files: [
        { path: "a.sh", bytes: 4, kind: "text", executable: true },
        { path: "b/chart.png", bytes: 16, kind: "png", executable: false },
      ],
      bytes: 20,
      leftOut: { files: [], more: 0 },
      dropped: 1,
    });
  });

  test("is a 404 for an unknown run", async () => {
    const { get } = await withFiles({});
    expect((await get("/api/runs/dev-zzzzzzzz/files")).statusCode).toBe(404);
  });
});

describe("GET /api/runs/:instanceId/files/<path>", () => {
  test.each([
    ["page.html", page, "text/plain; charset=utf-8"],
    [
      "image.svg",
      `<svg xmlns="http://www.w3.org/2000/svg">${page}</svg>`,
      "text/plain; charset=utf-8",
    ],
    ["b/chart.png", png, "image/png"],
    ["page.html.bin", Buffer.from(`\0${page}`), "application/octet-stream"],
  ])("serves %s as a sandboxed attachment", async (path, content, type) => {
    const { get } = await withFiles({ [path]: content });
    const { statusCode, headers, rawPayload } = await get(`/api/runs/${run}/files/${path}`);
    expect([statusCode, rawPayload]).toEqual([200, Buffer.from(content)]);
    expect(headers).toMatchObject({
      "content-type": type,
      "content-length": String(content.length),
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none';frame-ancestors 'none';sandbox",
    });
    expect(headers["content-disposition"]).toMatch(/^attachment; filename\*=UTF-8''[\w.]+$/);
  });

  test("keeps a name in the header whole, and apart from the header", async () => {
    const name = 'Bericht für "Ä"; x=1.md';
    const { get } = await withFiles({ [name]: "x" });
    const { headers } = await get(`/api/runs/${run}/files/${encodeURIComponent(name)}`);
    expect(headers["content-disposition"]).toBe(
      `attachment; filename*=UTF-8''Bericht%20f%C3%BCr%20%22%C3%84%22%3B%20x%3D1.md`,
    );
  });

  test.each(["nothing.md", "..%2f..%2fconfig.toml", "a%00b"])("is a 404 for %j", async (path) => {
    const { get } = await withFiles({ "a.md": "a" });
    expect((await get(`/api/runs/${run}/files/${path}`)).statusCode).toBe(404);
  });

  test("names its methods to a wrong one", async () => {
    const { app } = await withFiles({});
    const answer = await app.inject({ method: "OPTIONS", url: `/api/runs/${run}/files/a/b` });
    expect(answer.headers.allow).toBe("GET, HEAD, OPTIONS");
  });
});

describe("GET /api/runs/:instanceId/file-text", () => {
  const textAt = `/api/runs/${run}/file-text`;

  test("returns a text in parts that end between characters", async () => {
    const { get } = await withFiles({ "ä.txt": "aä€b" });
    const texts: string[] = [];
    for (let from: number | null = 0; from !== null;) {
      const answer: { text: string; next: number | null } = (
        await get(`${textAt}?path=${encodeURIComponent("ä.txt")}&most=4&from=${from}`)
      ).json<{
        text: string;
        next: number | null;
      }>();
      texts.push(answer.text);
      from = answer.next;
    }
    expect(texts).toEqual(["aä", "€b"]);
  });

  test("redacts secrets that became known after the file was stored", async () => {
    const { get, deps } = await withFiles({ "a.txt": "the key hunter2-hunter2" });
    deps.context.redactor.add(["hunter2-hunter2"]);
    expect((await get(`${textAt}?path=a.txt`)).json()).toMatchObject({
      text: "the key [redacted]",
      next: null,
    });
  });

  test("refuses a binary file", async () => {
    const { get } = await withFiles({ "a.png": png });
    const answer = await get(`${textAt}?path=a.png`);
    expect([answer.statusCode, answer.json()]).toMatchObject([409, { error: "unreadable_file" }]);
  });
});
