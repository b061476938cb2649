// @ts-check
// Bytes that the main isolate allocated on its heap: what each garbage collection freed, plus the growth. Counted, not sampled;
// buffers live outside of the heap.
import v8 from 'node:v8'

export function openProfile() {
  const profiler = new v8.GCProfiler()
  /** @type {number | null} */
  let startBytes = null
  return {
    /** Since the first call. The second one ends the profile. */
    read() {
      if (startBytes === null) {
        startBytes = usedBytes()
        profiler.start()
        return {}
      }
      const { statistics } = profiler.stop()
      let freedBytes = 0
      let gcUs = 0
      for (const { beforeGC, afterGC, cost } of statistics) {
        freedBytes += beforeGC.heapStatistics.usedHeapSize - afterGC.heapStatistics.usedHeapSize
        gcUs += cost
      }
      return { allocatedBytes: freedBytes + usedBytes() - startBytes, gcMs: gcUs / 1_000 }
    },
  }
}

function usedBytes() {
  return v8.getHeapStatistics().used_heap_size
}
