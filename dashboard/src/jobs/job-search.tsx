import { useEffect, useState } from 'react'
import { RequestProblem } from '../api/client.ts'
import { Button } from '../ui/button.tsx'

const STATUSES = ['waiting', 'running', 'dead', 'succeeded', 'cancelled'] as const

interface SearchProps {
  q: string
  search: (text: string) => void
  problem: Error | null
}

export function JobSearch({ q, search, problem }: SearchProps) {
  const [text, setText] = useState(q)
  useEffect(() => setText(q), [q])
  const refused =
    problem instanceof RequestProblem && problem.status >= 400 && problem.status < 500 ? problem : null
  const token = refused?.problem.token
  return (
    <form
      role="search"
      className="flex flex-col gap-2"
      onSubmit={(event) => {
        event.preventDefault()
        search(text)
      }}
    >
      <div className="flex gap-2">
        <input
          data-search
          type="search"
          aria-label="Search jobs"
          aria-invalid={refused !== null}
          aria-describedby="search-problem"
          placeholder="type:run_tsa status:dead error:GW_5XX"
          value={text}
          onChange={(event) => setText(event.target.value)}
          className="min-h-9 min-w-0 grow rounded-md border border-edge bg-panel px-3 font-mono text-sm leading-6 placeholder:text-soft"
        />
        <Button type="submit" kind="main">
          Search
        </Button>
      </div>
      <p id="search-problem" role={refused === null ? undefined : 'alert'} className="text-xs text-soft">
        {refused === null ? (
          'Keys: type, status, queue, stage, owner, worker, error, cause, lease:<0, older:2h, younger:10m'
        ) : (
          <span className="text-bad">
            {refused.message}
            {token === undefined ? null : (
              <>
                {' '}
                at character {token.position + 1}: <code className="font-mono">{token.text}</code>
              </>
            )}
          </span>
        )}
      </p>
      <StatusChips q={q} search={search} />
    </form>
  )
}

function StatusChips({ q, search }: Pick<SearchProps, 'q' | 'search'>) {
  return (
    <fieldset className="flex flex-wrap gap-1.5">
      <legend className="sr-only">Status</legend>
      {STATUSES.map((status) => {
        const word = `status:${status}`
        const isOn = q.split(/\s+/).includes(word)
        const rest = q
          .replace(/\bstatus:\S+/g, '')
          .replace(/\s+/g, ' ')
          .trim()
        return (
          <button
            key={status}
            type="button"
            aria-pressed={isOn}
            className={`min-h-7 rounded-full border px-3 text-xs font-medium ${isOn ? 'border-transparent bg-accent-fill text-white' : 'border-edge/60 bg-panel text-soft hover:text-ink'}`}
            onClick={() => search(isOn ? rest : `${word} ${rest}`)}
          >
            {status}
          </button>
        )
      })}
    </fieldset>
  )
}
