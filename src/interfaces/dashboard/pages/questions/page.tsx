import type { QuestionsView } from "../../../../foundation/contracts/question-views.ts";
import { Pager, useListPage, type ListData, type ListPage } from "../../kit/list.tsx";
import { Copied } from "../../kit/copied.tsx";
import { Panel } from "../../kit/panel.tsx";
import { QuestionList } from "../../runs/question.tsx";
import { frameStyles, Site, useScheduler } from "../../kit/site.tsx";
import { withQuery } from "../../text/addresses.ts";

interface QuestionsData {
  readonly open: QuestionsView;
  readonly ended: QuestionsView;
}

/** Questions of runs to people: the open ones to answer, and how the others ended. */
export const page: ListPage<QuestionsData> = {
  name: "questions",
  title: () => "Questions",
  styles: [...frameStyles, "list", "questions", "changes"],
  filters: ["agent"],
  paths: {
    open: ({ filters: { agent } }) =>
      withQuery("/api/questions", { state: "open", limit: 200, agent }),
    ended: ({ filters: { agent }, before }) =>
      withQuery("/api/questions", { state: "settled", limit: 30, before, agent }),
  },
  view: Questions,
};

function Questions(data: ListData<QuestionsData>) {
  const { views, useRead } = useListPage(page, data);
  const { questions: count } = useScheduler(data.frame);
  const { before, filters } = views.view;
  const open = useRead("open");
  const ended = useRead("ended");
  const refresh = (): void => [open, ended].forEach((each) => each.refresh());
  const isEmpty = ended.value?.questions.length === 0 && before === "";
  return (
    <Site
      frame={data.frame}
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
          <NoneOpen hidden={open.value.questions.length > 0} isFirst={isEmpty} />
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

interface NoneOpenProps {
  readonly hidden: boolean;
  /** Whether no run has asked yet. */
  readonly isFirst: boolean;
}

function NoneOpen({ hidden, isFirst }: NoneOpenProps) {
  return (
    <div class="muted none panel" id="open-none" hidden={hidden}>
      <p>
        No run is waiting for an answer.
        {isFirst && " Agents ask people with the tool al_ask, and hooks with a command:"}
      </p>
      {isFirst && (
        <Copied text={'al-ask "Deploy to production?" --choice yes --choice no'} label="Command" />
      )}
    </div>
  );
}
