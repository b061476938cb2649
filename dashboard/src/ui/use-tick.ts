import { useEffect, useState } from 'react'

/** The monotonic clock, updated at an interval, for countdowns. */
export function useTick(intervalMs: number): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return now
}
