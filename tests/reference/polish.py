"""Newton's steps for the best weights of a stiff run, exact or by conjugate gradients that end early."""

import math

import numpy as np

FORCING, FULL_LENGTH, FEWEST = 0.5, 0.6, 5
STIFF_PASSES, STIFF_PASSES_EXACT, VISIT, ENTRY = 1e6, 1e4, 60.0, 2.0
FIRST_SHARE, FIRST_SHARE_EXACT, LARGEST_SHARE = 0.5, 1.0, 4.0
CHEAP_PASSES, ACTIVE_SHARE = 6.0, 0.5
STIFF, PATIENCE, SOFT, PRICE_FACTOR, CLOSE, MOST_STEPS = 3000.0, 50.0, 100.0, 10.0, 0.1, 60


class Newton:
    """The primal problem at a point w that moves; `ybar` are reflected, augmented patterns, c their penalties."""

    def __init__(self, ybar, c, w, exact, most_iterations=20):
        self.ybar, self.c, self.w, self.exact, self.most_iterations = ybar, c, w, exact, most_iterations
        self.evaluate()

    def evaluate(self):
        slack = np.maximum(0.0, 1 - self.ybar @ self.w)
        self.alpha, self.active = self.c * slack, slack > 0
        self.gradient = self.w - self.alpha @ self.ybar
        loss = self.alpha @ slack
        self.margin = 1 / math.sqrt(self.w @ self.w + loss)
        self.upper_bound = math.sqrt(np.sum((self.alpha @ self.ybar) ** 2) + loss) / self.alpha.sum()

    def hessian_times(self, v):
        rows = self.ybar[self.active]
        return v + rows.T @ (self.c[self.active] * (rows @ v))

    def step(self):
        """Move to the lowest point in the plane of w and the solution of Newton's system."""
        if not self.exact:
            return self.approximate_step()
        rows = self.ybar[self.active]
        hessian = np.eye(len(self.w)) + rows.T @ (self.c[self.active, None] * rows)
        return self.move_along(np.linalg.solve(hessian, -self.gradient))

    def move_along(self, x):
        along_w, along_x = self.lowest(x)
        self.w = along_w * self.w + along_x * x
        self.evaluate()
        return along_x / along_w

    def approximate_step(self):
        scale = (1 + self.c[self.active] @ self.ybar[self.active] ** 2) ** -0.5
        x, residual = np.zeros_like(self.w), -self.gradient
        search, made = scale * residual, 0
        first = now = residual @ (scale * residual)
        while now > FORCING**2 * first and made < self.most_iterations:
            product = self.hessian_times(search)
            length, last = now / (search @ product), now
            x, residual = x + length * search, residual - length * product
            now = residual @ (scale * residual)
            search, made = scale * residual + now / last * search, made + 1
        if not self.move_along(x) > FULL_LENGTH:
            self.most_iterations = max(FEWEST, made // 2)
        elif made >= self.most_iterations:
            self.most_iterations = 2 * made

    def lowest(self, x):
        """Return the lowest point in the plane of w and x: a convex, piecewise quadratic function of two numbers."""
        U = np.stack([self.w, x])
        scores, gram = self.ybar @ U.T, U @ U.T

        def F(k):
            return k @ gram @ k + self.c @ np.maximum(0.0, 1 - scores @ k) ** 2

        k = np.ones(2)
        for _ in range(100):
            slack = 1 - scores @ k
            active = slack > 0
            weighted = self.c[active, None] * scores[active]
            gradient = gram @ k - weighted.T @ slack[active]
            step, length = np.linalg.solve(gram + weighted.T @ scores[active], gradient), 1.0
            while length > 1e-6 and not F(k - length * step) < F(k):
                length /= 2
            if length <= 1e-6:
                break
            k = k - length * step
        return k


def eased_steps(ybar, c, w, stiffness):
    """Yield the weights after each exact step where slacks begin at a low price, which rises near each solution."""
    price = SOFT / stiffness
    newton = Newton(ybar, price * c, w, exact=True)
    while price < 1:
        for _ in range(MOST_STEPS):
            newton.step()
            yield newton.w
            if newton.margin >= (1 - CLOSE) * newton.upper_bound:
                break
        price = min(1.0, PRICE_FACTOR * price)
        newton = Newton(ybar, price * c, newton.w, exact=True)


def is_exact(X):
    """Whether there is room for a Hessian."""
    return (X.shape[1] + 1) ** 2 <= np.count_nonzero(X)


def allowed(X, stiffness, visits, full_passes):
    """Return the work that all steps together may cost after so much of PDM's."""
    slow = full_passes * stiffness / (STIFF_PASSES_EXACT if is_exact(X) else STIFF_PASSES)
    visit = VISIT + ENTRY * np.count_nonzero(X) / len(X)
    if is_exact(X) and is_cheap(X):
        slow = max(slow, 1.0)
    first = FIRST_SHARE_EXACT if is_exact(X) else FIRST_SHARE
    share = 0.0 if slow < 1 else min(first * math.sqrt(slow), LARGEST_SHARE)
    return share * visits * visit


def is_cheap(X):
    """Whether exact steps cost no more than a few passes."""
    return exact_work(X, ACTIVE_SHARE) <= CHEAP_PASSES * (VISIT * len(X) + ENTRY * np.count_nonzero(X))


def exact_work(X, active):
    """Return the work of an exact step where so many of the rows are active."""
    m, n, nonzeros = len(X), X.shape[1] + 1, np.count_nonzero(X)
    stored_dense = 4 * X.size <= 6 * nonzeros + 12 * m  # bytes, of float32
    at_once = 3 if stored_dense else 8  # multiplications of a system, in the time of one of a pass
    return active * nonzeros**2 / m / 2 + n**3 / 6 / at_once + 4 * nonzeros + 20 * m


def work_of_step(X):
    """Return what has to be allowed for a first step."""
    return exact_work(X, ACTIVE_SHARE if is_cheap(X) else 1.0) if is_exact(X) else 40 * np.count_nonzero(X)
