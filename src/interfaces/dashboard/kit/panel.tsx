import type { ComponentChildren } from "preact";
import type { ReadDocument } from "../live/use-document.ts";
import { plainText } from "../../../foundation/contracts/plain-text.ts";

interface PanelProps {
  readonly id: string;
  readonly title: string;
  /** True if the title is for screen readers only. */
  readonly isTitleHidden?: boolean | undefined;
  readonly class?: string | undefined;
  readonly hidden?: boolean;
  /** Shown beside the title. */
  readonly after?: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A part of a page below its own title. */
export function Panel(props: PanelProps) {
  const { id, title, isTitleHidden, class: more = "", hidden, after, children } = props;
  const heading = (
    <h2 class={isTitleHidden ? "visually-hidden" : undefined} id={`${id}-title`}>
      {title}
    </h2>
  );
  return (
    <section class={`panel ${more}`} id={id} aria-labelledby={`${id}-title`} hidden={hidden}>
      {after === undefined ? (
        heading
      ) : (
        <div class="panel-head">
          {heading}
          {after}
        </div>
      )}
      {children}
    </section>
  );
}

/** A label, and its values. */
export type Fact = readonly [label: string, ...values: string[]];

/** Facts as a list of two columns. */
export function FactList({ id, facts }: { readonly id: string; readonly facts: readonly Fact[] }) {
  return (
    <dl class="facts" id={id}>
      {facts.map(([label, ...values]) => (
        <div>
          <dt>{label}</dt>
          {values.map((value) => (
            <dd>{plainText(value)}</dd>
          ))}
        </div>
      ))}
    </dl>
  );
}

interface ItemsProps<Item> {
  readonly id: string;
  readonly items: readonly Item[];
  /** Maximum of shown items. */
  readonly most: number;
  readonly children: (item: Item) => ComponentChildren;
  /** Shown below the items. */
  readonly note: string;
}

/** The first items of a list, and a note below them. */
export function Items<Item>({ id, items, most, children, note }: ItemsProps<Item>) {
  return (
    <>
      <ul class="claims" id={`${id}-list`}>
        {items.slice(0, most).map(children)}
      </ul>
      <p class="muted note" id={`${id}-note`} hidden={note === ""}>
        {note}
      </p>
    </>
  );
}

interface FailedProps {
  /** Empty if nothing failed. */
  readonly failure: string;
  readonly retry: () => unknown;
}

/** Why a part of the page could not be read, with a button that reads it again. */
export function Failed({ failure, retry }: FailedProps) {
  return (
    <p class="notice error" role="status" hidden={failure === ""}>
      {failure}{" "}
      <button class="link" type="button" onClick={() => void retry()}>
        Try again
      </button>
    </p>
  );
}

/** Shown as long as documents are being read for the first time, or could not be. */
export function Unread({ documents }: { readonly documents: readonly ReadDocument<unknown>[] }) {
  const failed = documents.filter(({ isMissing, failure }) => isMissing && failure !== "");
  if (failed.length > 0) {
    const retry = () => failed.forEach(({ refresh }) => refresh());
    return <Failed failure={failed[0]?.failure ?? ""} retry={retry} />;
  }
  return documents.some(({ value }) => value === null) ? (
    <p class="muted note" role="status">
      Reading …
    </p>
  ) : null;
}
