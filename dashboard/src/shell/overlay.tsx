// The command palette and the help, which any page can open.
import { useState, useSyncExternalStore } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { jobPath, useGo } from './address.tsx'
import { innerPages, pages } from './pages-list.ts'

type Overlay = 'palette' | 'help' | null

let open: Overlay = null
const listeners = new Set<() => void>()

export function openOverlay(next: Overlay): void {
  open = next
  for (const listener of listeners) listener()
}

export function Overlays() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => open,
  )
  if (shown === 'palette') return <Palette />
  return shown === 'help' ? <Help /> : null
}

function Palette() {
  const [text, setText] = useState('')
  const go = useGo()
  const wanted = text.trim().toLowerCase()
  const matching = [...pages, ...innerPages].filter(({ name }) => name.toLowerCase().includes(wanted))
  const id = text.trim().replace(/^why\s+/i, '')
  const isId = /^[\w-]{4,}$/.test(id) && /\d/.test(id)
  const choose = (path: string, values?: Record<string, string>) => {
    openOverlay(null)
    go(path, values)
  }
  const submit = () => {
    if (isId) choose(jobPath(id))
    else if (text.includes(':')) choose('/jobs', { q: text.trim() })
    else if (matching[0] !== undefined) choose(matching[0].path)
  }
  return (
    <Dialog title="Go to" onClose={() => openOverlay(null)}>
      <form
        className="flex flex-col gap-3"
        onSubmit={(event) => {
          event.preventDefault()
          submit()
        }}
      >
        <label className="flex flex-col gap-1">
          <span className="text-soft">A job id, “why” and a job id, a filter, or a page</span>
          <input
            data-first
            value={text}
            onChange={(event) => setText(event.target.value)}
            className="min-h-9 rounded-md border border-edge bg-ground px-3 font-mono text-sm"
          />
        </label>
        <ul className="flex flex-col">
          {isId ? (
            <li>
              <Choice onClick={() => choose(jobPath(id))}>Job {id}</Choice>
            </li>
          ) : null}
          {matching.map((page) => (
            <li key={page.path}>
              <Choice onClick={() => choose(page.path)}>
                {page.name}{' '}
                {'key' in page ? (
                  <kbd className="ml-auto font-mono text-xs text-soft">g {page.key}</kbd>
                ) : null}
              </Choice>
            </li>
          ))}
        </ul>
      </form>
    </Dialog>
  )
}

function Choice({ onClick, children }: { onClick: () => void; children: React.ReactNode }) {
  return (
    <button
      type="button"
      onClick={onClick}
      className="flex min-h-9 w-full items-center rounded-md px-2 text-left hover:bg-raised"
    >
      {children}
    </button>
  )
}

const KEYS = [
  ['/', 'search jobs'],
  ['g, then n j d w p r o s', 'go to a page'],
  ['j and k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['x', 'select the row'],
  ['w', 'why a job is not running'],
  ['r', 'retry this job'],
  ['v', 'bars or table'],
  ['p', 'pause or resume updates'],
  ['⌘K or Ctrl K', 'go to'],
  ['?', 'this help'],
] as const

function Help() {
  return (
    <Dialog title="Keyboard shortcuts" onClose={() => openOverlay(null)}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-1.5">
        {KEYS.map(([key, meaning]) => (
          <div key={key} className="contents">
            <dt className="font-mono text-xs leading-6">{key}</dt>
            <dd className="text-soft">{meaning}</dd>
          </div>
        ))}
      </dl>
      <p className="mt-4 text-soft">Single-key shortcuts can be disabled in the settings.</p>
    </Dialog>
  )
}
