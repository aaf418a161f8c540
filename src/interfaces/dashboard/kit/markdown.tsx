import { Lexer, type MarkedToken, type Token, type Tokens, type TokensList } from "marked";
import type { ComponentChildren } from "preact";
import { plainText } from "../../../foundation/contracts/plain-text.ts";
import { WebLink } from "./linked.tsx";
import { memo } from "./memo.ts";

interface MarkdownProps {
  readonly text: string;
  readonly class?: string;
  /** Whether its headings belong to the page's outline, below the page's own two levels. */
  readonly isOutlined?: boolean;
}

/** A markdown text as elements. Markup in it stays text, and so does everything that would be hidden. */
export const Markdown = memo(({ text, class: more = "", isOutlined = false }: MarkdownProps) => {
  const tokens = lex(plainText(text));
  const headings = isOutlined ? outlineOf(tokens) : noOutline;
  return <div class={`markdown ${more}`}>{blocks(tokens, headings)}</div>;
});

type Headings = ReadonlyMap<Token, "h3" | "h4" | "h5" | "h6">;
const noOutline: Headings = new Map();

/** The headings of a text below the page's own two levels: each at most one level below the one before it. */
function outlineOf(tokens: readonly Token[]): Headings {
  const open: number[] = [];
  return new Map(
    headingsIn(tokens).map((token) => {
      while ((open.at(-1) ?? 0) >= token.depth) open.pop();
      open.push(token.depth);
      return [token, (["h3", "h4", "h5"] as const)[open.length - 1] ?? "h6"] as const;
    }),
  );
}

function headingsIn(tokens: readonly Token[]): readonly Tokens.Heading[] {
  return (tokens as readonly MarkedToken[]).flatMap((token) => {
    if (token.type === "heading") return [token];
    if (token.type === "list") return token.items.flatMap((item) => headingsIn(item.tokens));
    return token.type === "blockquote" ? headingsIn(token.tokens) : [];
  });
}

/** Quotes and lists inside each other: deeper ones stay text. */
const maxDepth = 10;
/** Marks in one block: finding their pairs takes time that grows with the square of their number. */
const maxMarks = 500;

/** A lexer that takes no more time for hostile text than for other text of its length. */
class BoundedLexer extends Lexer {
  #depth = 0;

  override blockTokens(source: string, tokens: Token[] = [], isClipped = false): TokensList {
    this.#depth += 1;
    if (this.#depth <= maxDepth) super.blockTokens(source, tokens, isClipped);
    else tokens.push(textToken(source));
    this.#depth -= 1;
    return tokens as TokensList;
  }

  override inlineTokens(source: string, tokens: Token[] = []): Token[] {
    const marks = source.match(/[*_~[]/g)?.length ?? 0;
    if (marks <= maxMarks) return super.inlineTokens(source, tokens);
    tokens.push(textToken(source));
    return tokens;
  }
}

function textToken(text: string): Tokens.Text {
  return { type: "text", raw: text, text };
}

function lex(text: string): Token[] {
  return new BoundedLexer().lex(text);
}

function blocks(tokens: readonly Token[], headings: Headings): ComponentChildren {
  return tokens.map((token, index) => (
    <Block token={token as MarkedToken} headings={headings} key={index} />
  ));
}

interface BlockProps {
  readonly token: MarkedToken;
  readonly headings: Headings;
}

function Block({ token, headings }: BlockProps) {
  switch (token.type) {
    case "space":
      return null;
    case "heading": {
      const Tag = headings.get(token) ?? "div";
      return <Tag class={`heading level-${token.depth}`}>{inline(token.tokens)}</Tag>;
    }
    case "paragraph":
      return <p>{inline(token.tokens)}</p>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens, headings)}</blockquote>;
    case "list":
      return token.items.map((item, index) => (
        <div class="item" key={index}>
          <span class="marker">{markerOf(item.raw)} </span>
          {blocks(item.tokens, headings)}
        </div>
      ));
    case "code":
      return <pre>{token.text}</pre>;
    case "table":
      return <MarkdownTable {...token} />;
    case "hr":
      return <hr />;
    case "text":
      return <span>{token.tokens === undefined ? token.text : inline(token.tokens)}</span>;
    default:
      return <span>{token.raw}</span>;
  }
}

function markerOf(item: string): string {
  return /^\s*(\d+[.)])/.exec(item)?.[1] ?? "•";
}

function MarkdownTable({ header, rows }: Tokens.Table) {
  return (
    <table>
      <thead>
        <tr>
          {header.map((cell, index) => (
            <th key={index}>{inline(cell.tokens)}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={column}>{inline(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function inline(tokens: readonly Token[]): ComponentChildren {
  return tokens.map((token, index) => <Inline token={token as MarkedToken} key={index} />);
}

function Inline({ token }: { readonly token: MarkedToken }) {
  switch (token.type) {
    case "strong":
    case "em":
    case "del": {
      const Tag = token.type;
      return <Tag>{inline(token.tokens)}</Tag>;
    }
    case "codespan":
      return <code>{token.text}</code>;
    case "br":
      return <>{"\n"}</>;
    case "text":
    case "escape":
      return <>{token.text}</>;
    case "link":
      return isWebLink(token.href) ? (
        <WebLink href={token.href}>{inline(token.tokens)}</WebLink>
      ) : (
        <>{token.raw}</>
      );
    default:
      return <>{token.raw}</>;
  }
}

function isWebLink(href: string): boolean {
  return /^(https?:\/\/|mailto:)/i.test(href);
}
