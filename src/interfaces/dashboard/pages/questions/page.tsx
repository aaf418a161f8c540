import type { QuestionsView } from "../../../../foundation/contracts/question-views.ts";
import { changes, useDocument } from "../../live/use-document.ts";
import { Pager, useListViews } from "../../kit/list.tsx";
import { Panel } from "../../kit/panel.tsx";
import { QuestionList } from "../../runs/question.tsx";
import { frameStyles, Site, useScheduler } from "../../kit/site.tsx";
import type { ListData, ListPage } from "../../send-page.tsx";
import { withQuery } from "../../text/addresses.ts";
import type { ListView } from "../../kit/list-view.ts";

interface QuestionsData {
  readonly open: QuestionsView | null;
  readonly ended: QuestionsView | null;
}

/** Questions of runs to people: the open ones to answer, and how the others ended. */
export const page: ListPage<QuestionsData> = {
  name: "questions",
  title: () => "Questions",
  styles: [...frameStyles, "list", "questions"],
  filters: ["agent"],
  view: Questions,
};

/** The addresses of the API for a view. */
export function questionPaths({ filters: { agent }, before }: ListView) {
  const path = (values: Parameters<typeof withQuery>[1]) =>
    withQuery("/api/questions", { ...values, agent });
  return {
    open: path({ state: "open", limit: 200 }),
    ended: path({ state: "settled", limit: 30, before }),
  };
}

const howToAsk = " An agent asks people with the tool al_ask, a hook with the command al-ask.";

function Questions({ frame, view, ...first }: ListData & QuestionsData) {
  const views = useListViews(page.filters, view);
  const { questions: count } = useScheduler(frame);
  const { before, filters } = views.view;
  const useQuestions = (state: "open" | "ended") =>
    useDocument<QuestionsView>(() => questionPaths(views.view)[state], {
      first: first[state],
      view: views.key,
      on: changes("questions"),
    });
  const open = useQuestions("open");
  const ended = useQuestions("ended");
  const refresh = (): void => [open, ended].forEach((each) => each.refresh());
  const isEmpty = ended.value?.questions.length === 0 && before === "";
  return (
    <Site
      frame={frame}
      title="Questions"
      heading={views.isNarrow ? `Questions of ${filters.agent ?? ""}` : undefined}
      total={`${count.toLocaleString("en")} open`}
      head={views.isNarrow && <a href="/dashboard/questions">of all agents</a>}
      documents={[open, ended]}
      current="questions"
    >
      {open.value !== null && (
        <>
          <QuestionList id="open" questions={open.value.questions} refresh={refresh} />
          <p class="muted none panel" id="open-none" hidden={open.value.questions.length > 0}>
            No run waits for an answer.{isEmpty && howToAsk}
          </p>
        </>
      )}
      {ended.value !== null && !isEmpty && (
        <Panel id="ended" title="Answered and ended">
          <QuestionList id="ended-list" questions={ended.value.questions} refresh={refresh} />
        </Panel>
      )}
      <Pager label="Pages of ended questions" views={views} older={ended.value?.next ?? null} />
    </Site>
  );
}
