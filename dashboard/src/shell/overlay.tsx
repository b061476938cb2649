// The command palette and the help, which any page can open.
import { useSyncExternalStore } from 'react'
import { Dialog } from '../ui/dialog.tsx'
import { Palette } from './palette.tsx'

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
  if (shown === 'palette') return <Palette close={() => openOverlay(null)} />
  return shown === 'help' ? <Help /> : null
}

const KEYS = [
  ['/', 'search jobs'],
  ['g, then n j q d w p r o s', 'go to a page'],
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
