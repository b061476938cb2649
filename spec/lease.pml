/* The protocol of lease.qnt for one job, small enough for every interleaving of two workers, a reaper, a person and a
   failover. A statement of the database is one atomic step. Time is a process too: a lease runs out when it says so.
   Each -D below takes one rule out, and must be caught: scripts/spec.mjs. */

#define WAITING 0
#define RUNNING 1
#define SUCCEEDED 2
#define DEAD 3
#define CANCELLED 4

#define MAX_GRANTS 4
#define MAX_FAILURES 2
#define MAX_CRASHES 2
#define MAX_RETRIES 1

#ifdef WITHOUT_FENCE
#define MAY_WRITE (row.status == RUNNING)
#else
#define MAY_WRITE (row.status == RUNNING && row.lease == lease)
#endif

#ifdef COUNTER_AS_LEASE
#define NEXT_LEASE (row.fence + 1)
#else
#define NEXT_LEASE (grants + 1)
#endif

typedef Row {
  byte status;
  byte lease;
  byte fence;
  byte finishedLease;
  byte failures;
  byte crashes;
  byte retries;
  bool isExpired;
  bool isCancelAsked;
  /* Not in the database: the grant that the row is under, and the one that completed it. */
  byte grant;
  byte completedBy
}

Row row;
Row replica;
byte grants;
/* A worker of this timeline was told that the job is complete. */
bool isAcknowledged;

inline copyRow(to, from) {
  to.status = from.status; to.lease = from.lease; to.fence = from.fence; to.finishedLease = from.finishedLease;
  to.failures = from.failures; to.crashes = from.crashes; to.retries = from.retries; to.isExpired = from.isExpired;
  to.isCancelAsked = from.isCancelAsked; to.grant = from.grant; to.completedBy = from.completedBy
}

inline endLease(status_) {
  row.status = status_; row.lease = 0; row.grant = 0; row.isExpired = false
}

inline remember() {
#ifndef FORGETFUL_END
  row.finishedLease = lease
#else
  skip
#endif
}

/* I2: what is accepted comes from the holder. */
inline assertHolder() { assert(row.grant == grant) }

/* Invariants after every statement: I15, I12, I7, I20. */
inline assertRow() {
  assert((row.status == RUNNING) == (row.lease != 0));
  assert(row.failures <= MAX_FAILURES && row.crashes <= MAX_CRASHES);
  assert(!isAcknowledged || row.status == SUCCEEDED);
  assert(row.status != DEAD || row.failures == MAX_FAILURES || row.crashes == MAX_CRASHES)
}

inline claim() {
  atomic {
    row.status == WAITING && grants < MAX_GRANTS ->
    lease = NEXT_LEASE;
    grants++;
    grant = grants;
    row.status = RUNNING; row.lease = lease; row.grant = grant; row.isExpired = false;
    row.fence++;
    assertRow()
  }
}

inline beat() {
  atomic {
    if
    :: MAY_WRITE -> assertHolder(); row.isExpired = false
    :: else -> isDone = true
    fi;
    assertRow()
  }
}

/* The answer may get lost: then the worker does not know, and asks again. */
inline complete() {
  atomic {
    if
    :: MAY_WRITE ->
       assertHolder(); row.completedBy = grant; remember(); endLease(SUCCEEDED);
       if
       :: isAcknowledged = true; isDone = true
       :: skip
       fi
    :: else ->
       if
       :: row.status == SUCCEEDED && row.finishedLease == lease -> isAcknowledged = true
       /* C3: nobody is told that its own completion was lost. */
       :: else -> assert(row.status != SUCCEEDED || row.completedBy != grant)
       fi;
       isDone = true
    fi;
    assertRow()
  }
}

inline failOrEnd() {
  atomic {
    if
    :: MAY_WRITE ->
       assertHolder(); remember(); row.failures++;
       if
       :: row.isCancelAsked -> endLease(CANCELLED)
       :: !row.isCancelAsked && row.failures >= MAX_FAILURES -> endLease(DEAD)
       :: else -> endLease(WAITING)
       fi
    :: else
    fi;
    isDone = true;
    assertRow()
  }
}

inline release() {
  atomic {
    if
    :: MAY_WRITE ->
       assertHolder(); remember();
       if
       :: row.isCancelAsked -> endLease(CANCELLED)
       :: else -> endLease(WAITING)
       fi
    :: else
    fi;
    isDone = true;
    assertRow()
  }
}

active [2] proctype Worker() {
  byte lease, grant;
  bool isDone;
  do
  :: claim();
     isDone = false;
     do
     :: isDone -> break
     :: !isDone -> beat()
     :: !isDone -> complete()
     :: !isDone -> failOrEnd()
     :: !isDone -> release()
     /* It dies, and another one comes that knows nothing. */
     :: !isDone -> isDone = true
     od;
     lease = 0; grant = 0
  od
}

inline reapRow() {
  /* I10 */
  assert(row.isExpired);
  row.crashes++;
  if
  :: row.isCancelAsked -> endLease(CANCELLED)
  :: !row.isCancelAsked && row.crashes >= MAX_CRASHES -> endLease(DEAD)
  :: else -> endLease(WAITING)
  fi;
  assertRow()
}

#ifndef WITHOUT_REAPER
active proctype Reaper() {
  do
#ifdef REAP_WITHOUT_CHECK
  :: atomic { row.status == RUNNING && row.isExpired -> skip };
     atomic {
       if
       :: row.status == RUNNING -> reapRow()
       :: else
       fi
     }
#else
  :: atomic { row.status == RUNNING && row.isExpired -> reapRow() }
#endif
  od
}
#endif

active proctype Time() {
  do
  :: atomic { row.status == RUNNING && !row.isExpired -> row.isExpired = true }
  od
}

active proctype Person() {
  do
  :: atomic {
       if
#ifdef CANCEL_OVER_END
       :: row.status == SUCCEEDED -> endLease(CANCELLED)
#endif
       :: row.status == WAITING -> endLease(CANCELLED)
       :: row.status == RUNNING && !row.isCancelAsked -> row.isCancelAsked = true
       fi;
       assertRow()
     }
     break
  :: atomic {
       row.status == DEAD && row.retries < MAX_RETRIES ->
       endLease(WAITING); row.failures = 0; row.crashes = 0; row.completedBy = 0; row.retries++;
       assertRow()
     }
  od
}

/* A replica that catches up when it can, and is promoted once: what was committed since is gone, and no worker knows. */
#ifndef WITHOUT_FAILOVER
active proctype Replica() {
  do
  :: d_step { copyRow(replica, row) }
  :: atomic { copyRow(row, replica); isAcknowledged = false; assertRow() } break
  od
}
#endif

/* Bounded: what nobody renews is taken back, as long as a reaper goes on. */
ltl bounded { [] ((row.status == RUNNING && row.isExpired) -> <> !(row.status == RUNNING && row.isExpired)) }
