// Preferences of this browser. The time zone is in the address: a link shows the same to everyone.
import { useSyncExternalStore } from 'react'

export interface Settings {
  theme: 'system' | 'light' | 'dark'
  motion: 'system' | 'still'
  hasShortcuts: boolean
  isDense: boolean
}

const KEY = 'unstuck.settings'
const initial: Settings = { theme: 'system', motion: 'system', hasShortcuts: true, isDense: false }
let settings = load()
const listeners = new Set<() => void>()

function load(): Settings {
  try {
    return { ...initial, ...(JSON.parse(localStorage.getItem(KEY) ?? '{}') as Partial<Settings>) }
  } catch {
    return initial
  }
}

function show(): void {
  const { dataset } = document.documentElement
  dataset['theme'] = settings.theme
  dataset['motion'] = settings.motion
}
show()

export function changeSettings(changes: Partial<Settings>): void {
  settings = { ...settings, ...changes }
  try {
    localStorage.setItem(KEY, JSON.stringify(settings))
  } catch {
    // A browser that keeps nothing still shows the choice until it is closed.
  }
  show()
  for (const listener of listeners) listener()
}

export function useSettings(): Settings {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    () => settings,
  )
}

const reducedMotion = matchMedia('(prefers-reduced-motion: reduce)')

export function useIsStill(): boolean {
  const { motion } = useSettings()
  const isReduced = useSyncExternalStore(
    (listener) => {
      reducedMotion.addEventListener('change', listener)
      return () => reducedMotion.removeEventListener('change', listener)
    },
    () => reducedMotion.matches,
  )
  return motion === 'still' || isReduced
}
