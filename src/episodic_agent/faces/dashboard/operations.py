"""Later work and what failed of it; what language models cost; receipts of what was erased."""

from datetime import date, timedelta
from math import isfinite

from fastapi import APIRouter, Request, Response

from episodic_agent.engine.jobs.backlog import JobEntry
from episodic_agent.errors import InvalidInput
from episodic_agent.faces.dashboard.figures import usage_bars
from episodic_agent.faces.dashboard.pages import Pages, space_of

MOST = 200  # jobs of a page
_ORDER = ("dead", "leased", "waiting")


def routes(pages: Pages) -> APIRouter:
    """Return the routes of jobs, usage and receipts."""
    router = pages.router()

    @router.get("/jobs")
    @pages.endpoint
    def jobs(request: Request, state: str = "") -> Response:
        """List later work: what failed first."""
        room = space_of(request).jobs
        counts, shown = room.counts(), list[JobEntry]()
        for name in [state] if state else _ORDER:
            shown += sorted(room.list(state=name, limit=MOST - len(shown)), key=lambda e: e.due)
        total = counts[state] if state else sum(counts.values())
        return pages.page(
            request, "jobs.html", section="jobs", jobs=shown, counts=counts, total=total, state=state
        )

    @router.get("/usage")
    @pages.endpoint
    def usage(
        request: Request, user: str = "", days: int = 30, prompt: str = "", answer: str = ""
    ) -> Response:
        """Show what language models cost, by day, stage and model."""
        memory = space_of(request)
        until = pages.clock().date()
        since = until - timedelta(days=min(max(days, 1), 3650) - 1)
        rows = memory.usage(since, until, user=user or None)
        by_day: dict[date, tuple[int, int]] = {
            since + timedelta(days=n): (0, 0) for n in range(min(days, 60))
        }
        for row in rows:
            before = by_day.get(row.day, (0, 0))
            by_day[row.day] = before[0] + row.prompt_tokens, before[1] + row.completion_tokens
        prices = _price("prompt", prompt), _price("answer", answer)
        tokens = sum(r.prompt_tokens for r in rows), sum(r.completion_tokens for r in rows)
        cost = sum(t * p for t, p in zip(tokens, prices, strict=True)) / 1e6 if any(prices) else None
        return pages.page(
            request,
            "usage.html",
            section="usage",
            rows=rows,
            bars=usage_bars(by_day) if rows else [],
            tokens=tokens,
            cost=cost,
            prompt=prompt,
            answer=answer,
            of=user,
            days=days,
            users=memory.users()[:500],
        )

    _add_receipts(router, pages)
    return router


def _add_receipts(router: APIRouter, pages: Pages) -> None:
    @router.get("/receipts")
    @pages.endpoint
    def receipts(request: Request) -> Response:
        """List the receipts of all that was erased in the space."""
        return pages.page(
            request, "receipts.html", section="receipts", receipts=space_of(request).erasures()[::-1][:500]
        )


def _price(name: str, written: str) -> float:
    """Read a price for a million tokens; 0 for none, InvalidInput for what is none."""
    try:
        value = float(written.replace(",", ".") or 0)
    except ValueError as error:
        raise InvalidInput(f"the price of {name} tokens is a number, not {written[:40]!r}") from error
    if not isfinite(value) or value < 0:
        raise InvalidInput(f"the price of {name} tokens is 0 or more")
    return value
