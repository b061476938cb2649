// Notifications, outside the pages so that navigation keeps them.
import { useSyncExternalStore } from 'react'
import { Button } from './button.tsx'

interface Toast {
  key: number
  text: string
  isBad: boolean
  undo: { label: string; run: () => void } | null
}

const SHOWN_MS = 8_000
let toasts: Toast[] = []
let lastKey = 0
const listeners = new Set<() => void>()

function publish(next: Toast[]): void {
  toasts = next
  for (const listener of listeners) listener()
}

export function say(
  text: string,
  options: { isBad?: boolean; undo?: { label: string; run: () => void } } = {},
): void {
  lastKey += 1
  const key = lastKey
  publish([...toasts.slice(-2), { key, text, isBad: options.isBad ?? false, undo: options.undo ?? null }])
  setTimeout(() => dismiss(key), SHOWN_MS)
}

function dismiss(key: number): void {
  publish(toasts.filter((toast) => toast.key !== key))
}

export function Toasts() {
  const shown = useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => toasts,
  )
  return (
    <div
      role="status"
      aria-label="Notifications"
      className="fixed right-4 bottom-4 z-40 flex max-w-sm flex-col gap-2"
    >
      {shown.map(({ key, text, isBad, undo }) => (
        <div
          key={key}
          className={`panel arriving flex items-center gap-3 px-4 py-2.5 shadow-lg ${isBad ? 'border-bad-bar' : ''}`}
        >
          <span aria-hidden="true" className={isBad ? 'text-bad' : 'text-good'}>
            {isBad ? '✕' : '✓'}
          </span>
          <p className="grow">{text}</p>
          {undo === null ? null : (
            <Button
              onClick={() => {
                undo.run()
                dismiss(key)
              }}
            >
              {undo.label}
            </Button>
          )}
          <button
            type="button"
            aria-label="Dismiss"
            className="size-6 shrink-0 text-soft"
            onClick={() => dismiss(key)}
          >
            ✕
          </button>
        </div>
      ))}
    </div>
  )
}
