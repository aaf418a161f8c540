// A small MCP server over standard input and output, without a library: one JSON document a line.
import { createInterface } from "node:readline";

const books = [
  { id: 7, title: "Dune" },
  { id: 8, title: "Emma" },
];
const tools = [
  {
    name: "find_book",
    description: "Finds books by a part of their title.",
    inputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
  },
  {
    name: "borrow_book",
    description: "Borrows a book by its id.",
    inputSchema: { type: "object", properties: { id: { type: "number" } }, required: ["id"] },
  },
  // The agent does not have this one: its config does not name it.
  { name: "burn_book", description: "Burns a book.", inputSchema: { type: "object" } },
];

const calls = {
  find_book: ({ title }) =>
    JSON.stringify(books.filter((book) => book.title.toLowerCase().includes(title.toLowerCase()))),
  borrow_book: ({ id }) => `Book ${id} is yours for two weeks.`,
};

const methods = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: "library", version: "1.0.0" },
  }),
  "tools/list": () => ({ tools }),
  "tools/call": ({ name, arguments: args }) => ({
    content: [{ type: "text", text: calls[name](args) }],
  }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  // A notification has no id, and gets no answer.
  if (id === undefined) continue;
  const answer = Object.hasOwn(methods, method)
    ? { result: methods[method](params) }
    : { error: { code: -32601, message: `there is no method ${method}` } };
  console.log(JSON.stringify({ jsonrpc: "2.0", id, ...answer }));
}
