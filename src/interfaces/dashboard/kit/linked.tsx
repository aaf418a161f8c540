import type { ComponentChildren } from "preact";

/** An address of the web, without the punctuation behind it. */
const webAddress = /(https?:\/\/[^\s<>"'`]{1,2000}[^\s<>"'`.,;:!?)\]}])/i;
/** Further addresses in one text stay text. */
const maxLinks = 100;

/** A text of a run, in which addresses of the web are links. */
export function Linked({ text }: { readonly text: string }) {
  const parts = text.split(webAddress, 2 * maxLinks);
  const rest = text.slice(parts.join("").length);
  return (
    <>
      {[...parts, rest].map((part, index) =>
        index % 2 === 1 && index < parts.length ? (
          <WebLink href={part} key={index}>
            {part}
          </WebLink>
        ) : (
          part
        ),
      )}
    </>
  );
}

interface WebLinkProps {
  readonly href: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** A link to another site, which gets no referrer. */
export function WebLink({ href, class: more, children }: WebLinkProps) {
  return (
    <a class={more} href={href} title={href} rel="noopener noreferrer nofollow" target="_blank">
      {children}
    </a>
  );
}
