"""A hashed bag of words with integer weights: what batch-code.yaml runs over its rows, each a list of token ids."""


def load(work):
    """The state predict gets: loaded anew for every unit, so that a judge can compute any of them alone."""
    buckets = work["options"]["buckets"]
    return [(bucket * 2654435761) % 2001 - 1000 for bucket in range(buckets)]


def predict(state, rows):
    """One output a row; whole numbers, since what decides about pay is exact."""
    return [_scored(state, row) for row in rows]


def _scored(weights, row):
    score = sum(weights[token % len(weights)] for token in row)
    return {"score": score, "label": "up" if score > 0 else "down"}
