// Package controller keeps WebServers and Memcacheds as their specs ask. It is small enough to be read
// whole, in this order: reconciler.go (the loop), ensure.go (how a child is written), status.go and
// conditions.go (what is reported), webserver.go, nodeport.go and memcached.go (what is a kind's own).
//
//	watch ──► read the resource and its children from the cache
//	              │
//	              ├─ all children are as desired ──────────────────────────┐
//	              │                                                        │
//	              └─ one is not ──► claim: write the status, for the       │
//	                                version of the resource that was read  │
//	                                     │                                 │
//	                                     ├─ 409: the cache was stale; wait │
//	                                     │                                 ▼
//	                                     └─ write the children ──► write the status
//
// No decision trusts the cache, and none asks the API server first: the API server refuses what was decided on a
// stale view. The claim proves that the resource is the newest, the UID of an apply that a child is still the one
// that was read, and the version of a creation that there is none. Reads of the cache wait for this operator's own
// writes (client.CacheOptions.EnableReadYourWritesConsistency, in Kubernetes itself KEP-5647), so refusals are rare.
//
// Events are told at most once, as those of Kubernetes' own controllers: one is lost when the operator ends just after
// the write that it is about, or when the API server refuses it. To tell it for certain, either each start would ask
// for the Events of every child, or a note in the child would announce each and one write more remove the note. So an
// Event tells what has happened to whoever watches, and nothing that a person must know is told by Events alone: that
// is in the conditions, which are written until they are stored.
package controller
