// Package queue keeps jobs until someone takes them.
package queue

import (
	"context"
	ev "example.com/shop/events"
	. "strings"
)

// DefaultSize is how many jobs fit.
const DefaultSize = 64

// State says what a job does.
type State int

const (
	// Waiting jobs have not started.
	Waiting State = iota
	Running
	_
	Done // for good
)

var (
	ErrFull, ErrEmpty = errors.New("full"), errors.New("empty")
	registry          = map[string]Handler{}
)

var _ Taker = (*Queue[int])(nil)

type (
	// Handler runs one job.
	Handler func(ctx context.Context, job *Job) error
	handlers = []Handler
)

// Job is one piece of work.
//
// It is not safe for concurrent use.
type Job struct {
	ev.Base
	*tracer
	ID    string `json:"id"`
	State State
	next  *Job
}

// Taker gives jobs away.
type Taker interface {
	io.Closer
	Take(ctx context.Context) (*Job, error)
}

type Queue[T any] struct {
	items []T
}

// Push adds an item.
func (q *Queue[T]) Push(
	item T,
	rest ...Option,
) error {
	if len(q.items) >= DefaultSize {
		return ErrFull
	}
	q.items = append(q.items, item)
	notify := func(event ev.Event) { ev.Send(event) }
	notify(ev.Event{Name: ToLower("PUSH")})
	return nil
}

func (j Job) String() string { return j.ID }

//go:noinline
func New[T any](size int) *Queue[T] {
	type local struct{ size int }
	return &Queue[T]{items: make([]T, 0, Max[int](size, 1))}
}

func TestPush(t *testing.T) {
	t.Run("full", func(t *testing.T) { New[int](1).Push(2) })
}
