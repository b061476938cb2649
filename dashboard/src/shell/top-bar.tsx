import { setPaused, useIsPaused, useLive } from '../api/live.ts'
import { useConfig } from '../api/queries.ts'
import { showAgo, type TimeMode } from '../format/show-time.ts'
import { Badge } from '../ui/badge.tsx'
import { ChoiceField } from '../ui/field.tsx'
import { useTick } from '../ui/use-tick.ts'
import { useTable, useTimeMode } from './address.tsx'
import { openOverlay } from './overlay.tsx'

const MODES: { mode: TimeMode; name: string }[] = [
  { mode: 'relative', name: 'Relative' },
  { mode: 'local', name: 'Local' },
  { mode: 'utc', name: 'UTC' },
]

export function TopBar({ openMenu, isMenuOpen }: { openMenu: () => void; isMenuOpen: boolean }) {
  const config = useConfig()
  const environment = config.data?.environment ?? null
  return (
    <header className="flex min-h-13 flex-wrap items-center gap-x-3 gap-y-2 border-b border-line bg-panel px-4 py-2 md:px-6">
      <button
        type="button"
        aria-label="Menu"
        aria-expanded={isMenuOpen}
        className="size-8 rounded-md border border-line md:hidden"
        onClick={openMenu}
      >
        ☰
      </button>
      <button
        type="button"
        className="flex min-h-8 grow items-center gap-2 rounded-md border border-line bg-ground px-3 text-left text-soft hover:border-edge md:max-w-sm"
        onClick={() => openOverlay('palette')}
      >
        <span aria-hidden="true">⌕</span>
        <span className="min-w-0 grow truncate">Go to a job, queue, worker or page</span>
        <kbd className="font-mono text-[11px]">⌘K</kbd>
      </button>
      <div className="ml-auto flex flex-wrap items-center gap-3">
        <TableChoice profile={config.data?.profile ?? ''} tables={config.data?.tables ?? []} />
        {environment === null ? null : (
          <Badge tone={environment === 'production' ? 'bad' : 'info'}>{environment}</Badge>
        )}
        <TimeModes />
        <LiveSwitch />
      </div>
    </header>
  )
}

/** Selects the table of all lists; hidden if there is only one. */
function TableChoice({ profile, tables }: { profile: string; tables: string[] }) {
  const [table, setTable] = useTable()
  if (tables.length < 2) return null
  return (
    <ChoiceField
      label={`Table of ${profile}`}
      isLabelHidden
      value={table ?? ''}
      options={[
        { value: '', name: `${profile}: all tables` },
        ...tables.map((name) => ({ value: name, name })),
      ]}
      onChange={(name) => setTable(name === '' ? null : name)}
    />
  )
}

function TimeModes() {
  const [mode, setMode] = useTimeMode()
  return (
    <fieldset className="flex rounded-md border border-line p-0.5">
      <legend className="sr-only">Time format</legend>
      {MODES.map(({ mode: one, name }) => (
        <button
          key={one}
          type="button"
          aria-pressed={one === mode}
          className={`min-h-7 rounded px-2 text-xs ${one === mode ? 'bg-raised font-medium text-ink' : 'text-soft'}`}
          onClick={() => setMode(one)}
        >
          {name}
        </button>
      ))}
    </fieldset>
  )
}

const WORDS = { connecting: 'Connecting', live: 'Live', polling: 'Polling', lost: 'Offline' } as const

function LiveSwitch() {
  const { heardAtMs, connection } = useLive()
  const isPaused = useIsPaused()
  const now = useTick(500)
  const age = heardAtMs === null ? null : Math.max(0, now - heardAtMs)
  const word = isPaused ? 'Paused' : WORDS[connection]
  const dot = isPaused ? 'bg-edge' : connection === 'lost' ? 'bg-bad-bar' : 'bg-good-bar'
  return (
    <button
      type="button"
      aria-pressed={isPaused}
      aria-label={isPaused ? 'Paused: resume' : `${word}: pause`}
      title="Pause or resume updates (p)"
      className="flex min-h-8 items-center gap-2 rounded-md border border-line px-2.5 text-xs hover:bg-raised"
      onClick={() => setPaused(!isPaused)}
    >
      <span aria-hidden="true" className={`size-2 rounded-full ${dot}`} />
      <span className="font-medium">{word}</span>
      {age === null ? null : (
        <span className="hidden min-w-18 text-right text-soft lg:inline">{showAgo(age)}</span>
      )}
    </button>
  )
}
