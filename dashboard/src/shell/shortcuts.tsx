// Single-key shortcuts, disabled while typing, in dialogs and by preference.
import { useEffect } from 'react'
import { setPaused, useIsPaused } from '../api/live.ts'
import { useSettings } from '../settings/preferences.ts'
import { useGo } from './address.tsx'
import { openOverlay } from './overlay.tsx'
import { pages } from './pages-list.ts'

const CHORD_MS = 1_500
// Shared by all pages: the second key of `g r` must not trigger a page shortcut.
let chordUntilMs = 0

export function Shortcuts() {
  const { hasShortcuts } = useSettings()
  const isPaused = useIsPaused()
  const go = useGo()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if ((event.metaKey || event.ctrlKey) && event.key.toLowerCase() === 'k') {
        event.preventDefault()
        openOverlay('palette')
        return
      }
      if (!hasShortcuts || isTyping(event) || document.querySelector('dialog[open]') !== null) return
      const target = pages.find(({ key }) => key === event.key)
      if (performance.now() < chordUntilMs && target !== undefined) {
        chordUntilMs = 0
        go(target.path)
      } else if (event.key === 'g') chordUntilMs = performance.now() + CHORD_MS
      else if (event.key === '?') openOverlay('help')
      else if (event.key === 'p') setPaused(!isPaused)
      else if (event.key === '/') focusSearch(go)
      else if (event.key === 'j' || event.key === 'k') moveRow(event.key === 'j' ? 1 : -1)
      else if (event.key === 'x') selectRow()
      else if (event.key === 'w') focusWhy()
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
  return null
}

function isTyping({ target, metaKey, ctrlKey, altKey }: KeyboardEvent): boolean {
  if (metaKey || ctrlKey || altKey) return true
  return target instanceof HTMLElement && target.matches('input:not([type=checkbox]), textarea, select')
}

function focusSearch(go: (path: string) => void): void {
  const field = document.querySelector<HTMLInputElement>('[data-search]')
  if (field === null) go('/jobs')
  else field.focus()
}

function moveRow(step: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')]
  const current = rows.findIndex(
    (row) => row === document.activeElement || row.closest('tr')?.contains(document.activeElement),
  )
  rows[Math.min(rows.length - 1, Math.max(0, current + step))]?.focus()
}

function selectRow(): void {
  const row = document.activeElement?.closest('tr')
  row?.querySelector<HTMLInputElement>('input[type=checkbox]')?.click()
}

function focusWhy(): void {
  const why = document.querySelector<HTMLElement>('[data-why]')
  if (why !== null) why.focus()
  else if (document.activeElement instanceof HTMLElement && document.activeElement.matches('[data-row]'))
    document.activeElement.click()
}

/** A shortcut of one page. */
export function useKey(key: string, run: () => void): void {
  const { hasShortcuts } = useSettings()
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== key || !hasShortcuts || event.defaultPrevented || isTyping(event)) return
      if (performance.now() < chordUntilMs) return
      if (document.querySelector('dialog[open]') !== null) return
      event.preventDefault()
      run()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  })
}
