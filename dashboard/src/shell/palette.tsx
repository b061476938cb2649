// The command palette: pages, queues, types, workers, a job by its id, or a search.
import { type KeyboardEvent, useState } from 'react'
import { useTrends, useWorkers } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { useGo } from './address.tsx'
import { type Find, findAll, type Known } from './palette-finds.ts'
import { useTableLive } from './use-table-live.ts'

const WEEK_HOURS = 168

/** Names of the last week, ended jobs included. */
function useKnown(): Known {
  const { queues, leases } = useTableLive()
  const workers = useWorkers().data?.workers ?? []
  const trends = useTrends({ hours: WEEK_HOURS, span: 'total' }).data?.trends ?? []
  return {
    queues: [...(queues ?? []).map(({ queue }) => queue), ...trends.map(({ queue }) => queue)],
    types: [
      ...trends.map(({ type }) => type),
      ...(leases ?? []).map(({ type }) => type),
      ...workers.flatMap(({ types }) => types),
    ],
    workers: workers.map(({ id }) => id),
  }
}

export function Palette({ close }: { close: () => void }) {
  const [text, setText] = useState('')
  const go = useGo()
  const { finds, isNothing } = findAll(text, useKnown())
  const choose = ({ path, values }: Find) => {
    close()
    go(path, values)
  }
  return (
    <Dialog title="Go to" onClose={close}>
      <form
        className="flex flex-col gap-3"
        onKeyDown={moveFocus}
        onSubmit={(event) => {
          event.preventDefault()
          if (finds[0] !== undefined && !isNothing) choose(finds[0])
        }}
      >
        <label className="flex flex-col gap-1">
          <span className="text-soft">
            A job id, type, queue, worker, page, or a search such as status:dead
          </span>
          <input
            data-first
            data-choice
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="min-h-9 rounded-md border border-edge bg-ground px-3 font-mono text-sm"
          />
        </label>
        <p role="status" className={isNothing ? 'text-soft' : 'sr-only'}>
          {isNothing
            ? `Nothing is called “${text.trim()}”. Search all jobs instead:`
            : `${finds.length} found`}
        </p>
        <ul className="flex max-h-96 flex-col overflow-y-auto">
          {finds.map((find) => (
            <li key={find.kind + find.name}>
              <button
                type="button"
                data-choice
                onClick={() => choose(find)}
                className="flex min-h-9 w-full items-center gap-3 rounded-md px-2 text-left hover:bg-raised focus-visible:bg-raised"
              >
                <span className="min-w-0 truncate">{find.name}</span>
                <span className="ml-auto text-xs whitespace-nowrap text-soft">{find.hint}</span>
              </button>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  )
}

function moveFocus(event: KeyboardEvent<HTMLFormElement>): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
  if (step === 0) return
  event.preventDefault()
  const choices = [...event.currentTarget.querySelectorAll<HTMLElement>('[data-choice]')]
  const current = choices.findIndex((choice) => choice === document.activeElement)
  choices[Math.min(choices.length - 1, Math.max(0, current + step))]?.focus()
}
