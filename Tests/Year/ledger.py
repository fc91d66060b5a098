"""Every push, what the policy promises about it, and what the phone showed."""
from __future__ import annotations

import datetime
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from phone import Phone
from tool import CheckFailed

# What a phone may give as the reason, for each reason of the policy.
REASONS = {
    "sealed or signed with a revoked key": {"keyRevoked", "unknownKey"},
    "sealed before the phone had fetched the key of an emergency": {"unknownKey"},
    # Its key may have ended as well.
    "arrived after its lifetime": {"expired", "keyExpired", "unknownKey"},
}
REVOKED, UNFETCHED, EXPIRED = REASONS


@dataclass
class Push:
    number: int
    phone: Phone
    body: str
    sealed: datetime.datetime
    lifetime: datetime.timedelta
    arrives: int  # the day
    leaves: datetime.datetime  # when the backend gives it to APNs
    payload: dict = field(default_factory=dict)

    @property
    def keys(self) -> set[str]:
        return {self.payload["pushcrypt"]["kid"], self.payload["pushcrypt"]["skid"]}

    @property
    def kid(self) -> str:
        return self.payload["pushcrypt"]["kid"]


class Ledger:
    def __init__(self) -> None:
        self.pushes: list[Push] = []
        self.waiting: dict[int, list[Push]] = defaultdict(list)
        self.revoked: dict[str, datetime.datetime] = {}
        self.unannounced: dict[str, datetime.datetime] = {}
        self.opened = 0
        # The keys of the suite before a change-over, and what phones opened after the first push with a key of the new one.
        self.old_suite: set[str] = set()
        self.changed_over: set[Phone] = set()
        self.opened_afterwards: Counter[tuple[Phone, str]] = Counter()
        self.refused: Counter[str] = Counter()

    def add(self, push: Push) -> None:
        self.pushes.append(push)
        self.waiting[push.arrives].append(push)
        if self.old_suite and push.kid not in self.old_suite:
            self.changed_over.add(push.phone)

    def require_valid_keys(self, push: Push) -> None:
        """A host doesn't seal with a key that it knows to be revoked."""
        for kid in push.keys & set(self.revoked):
            raise CheckFailed(f"push {push.number} was sealed at {push.sealed} with key {kid}, "
                              f"which was revoked at {self.revoked[kid]}")

    def queue(self, now: datetime.datetime) -> list[Push]:
        """The pushes that the backend still has."""
        return [push for pushes in self.waiting.values() for push in pushes if push.leaves > now]

    def refusals(self, push: Push, now: datetime.datetime) -> list[str]:
        """Why the policy lets the phone refuse the push now. Without a reason it promises that the push opens."""
        fetched = push.phone.fetched
        reasons = []
        if now >= push.sealed + push.lifetime:
            reasons.append(EXPIRED)
        # What was in the queue must be sealed again.
        if any(kid in self.revoked and push.leaves <= self.revoked[kid] <= fetched for kid in push.keys):
            reasons.append(REVOKED)
        if any(kid in self.unannounced and fetched < self.unannounced[kid] for kid in push.keys):
            reasons.append(UNFETCHED)
        return reasons

    def record(self, push: Push, shown: str | None, now: datetime.datetime) -> None:
        reasons = self.refusals(push, now)
        found = [reason for reason in reasons if shown and shown.startswith("!") and shown[1:] in REASONS[reason]]
        if shown == push.body and not reasons:
            self.opened += 1
            if push.phone in self.changed_over:
                self.opened_afterwards[push.phone, "old" if push.kid in self.old_suite else "new"] += 1
        elif found:
            self.refused[found[0]] += 1
        else:
            promise = f"must be refused: {reasons[0]}" if reasons else f"must show {push.body!r}"
            raise CheckFailed(f"push {push.number} to {push.phone.name}, sealed at {push.sealed} with "
                              f"{' and '.join(sorted(push.keys))} and valid for {push.lifetime.days} days, {promise}; "
                              f"at {now} the phone, which fetched its keys at {push.phone.fetched}, shows {shown!r}")

    def report(self) -> str:
        missing = [push for pushes in self.waiting.values() for push in pushes]
        if missing:
            raise CheckFailed(f"{len(missing)} pushes never arrived")
        total = self.opened + sum(self.refused.values())
        if total != len(self.pushes) or not self.opened or set(self.refused) != set(REASONS):
            raise CheckFailed(f"{len(self.pushes)} pushes: {self.opened} opened, {dict(self.refused)} refused")
        lines = [f"{total} pushes were sealed", f"{self.opened} showed their text: all that the policy promises"]
        if self.old_suite:
            lines.append(self._report_change_over())
        return "\n".join(lines + [f"{count} were refused, as the policy says: {reason}"
                                  for reason, count in sorted(self.refused.items())])

    def _report_change_over(self) -> str:
        missing = [f"{phone.name}: {suite}" for phone in {push.phone for push in self.pushes} for suite in ("old", "new")
                   if not self.opened_afterwards[phone, suite]]
        if missing:
            raise CheckFailed(f"after the change-over, phones opened no push with a key of a suite: {missing}")
        count = {suite: sum(self.opened_afterwards[phone, suite] for phone in self.changed_over) for suite in ("old", "new")}
        return (f"{count['old']} of them, with keys of the old suite, arrived after the first push with a key of the new suite, "
                f"and {count['new']} had keys of the new suite")
