import { useEffect, useState } from 'react'

/** The monotonic clock, read anew at an interval: what counts down on the page is drawn from it. */
export function useTick(intervalMs: number): number {
  const [now, setNow] = useState(() => performance.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(performance.now()), intervalMs)
    return () => clearInterval(timer)
  }, [intervalMs])
  return now
}
