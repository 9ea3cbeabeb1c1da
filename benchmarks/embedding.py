"""How fast one core trains DeepWalk, beside gensim on the same walks, and how good the vectors are.

gensim's Word2Vec with one worker, our batches with negatives of a batch and of each pair, and our
rotation with negatives of each pair train one epoch of the same walks: SGNS, window 10 reduced as
in word2vec, 5 negatives, 128 numbers in a vector.
They are timed one after the other by their processor time, in which a busy machine counts little;
gensim's includes its thread that feeds the worker, ours drawing the walks again, and the rotation's
reading the graph and writing the vectors. Pairs are those
that we draw; gensim draws windows of its own, as many to a thousandth.

Micro-F1 is of one-vs-rest logistic regression on half of the labelled nodes. Shares are of a few
batches by their steps, timed one by one.

Use: python benchmarks/embedding.py --graph blogcatalog.mat [--batches N] [--output embedding.json]
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from common import write_record

from ogg_hpc.embedding.batch import compact
from ogg_hpc.embedding.evaluation.classes import read_classes
from ogg_hpc.embedding.evaluation.classify import ClassifySettings, evaluate_classes
from ogg_hpc.embedding.evaluation.numbering import RowLabels
from ogg_hpc.embedding.gradients import gradients
from ogg_hpc.embedding.graph_input import open_walk_graph
from ogg_hpc.embedding.initial import initial_vectors
from ogg_hpc.embedding.negatives import NegativeSampler
from ogg_hpc.embedding.objective import make_objective
from ogg_hpc.embedding.run import embed
from ogg_hpc.embedding.sampling.registry import make_sampler
from ogg_hpc.embedding.schedule import batch_items, learning_rates, shared_negatives
from ogg_hpc.embedding.settings import EmbedSettings
from ogg_hpc.embedding.store import read_embedding
from ogg_hpc.embedding.update import apply
from ogg_hpc.runtime.launch import start

WINDOW = 40  # batches whose pairs are drawn at once


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, required=True, help="a .mat file with classes")
    parser.add_argument("--batches", type=int, help="stop ours after so many, without F1")
    parser.add_argument("--output", type=Path, default=Path(__file__).with_suffix(".json"))
    args = parser.parse_args()
    comm = start("cpu")
    settings = EmbedSettings()
    opened = open_walk_graph(comm, str(args.graph), settings)
    rows = RowLabels(np.arange(opened.graph.n) if opened.labels is None else opened.labels)
    members = read_classes(args.graph, rows).members
    quality = ClassifySettings(fractions=(0.5,), shuffles=3)
    results = {"graph": args.graph.name, "nodes": opened.graph.n, "edges": opened.m}

    def add(name, vectors, result):
        if not args.batches:
            f1 = evaluate_classes(comm, vectors, members, quality)["results"][0]
            result = result | {"f1_at_half": f1}
        results[name] = result
        print(name, json.dumps(result, indent=1), flush=True)
        write_record(args.output, results)

    pairs = None
    for kind in ("batch", "pair"):
        own = replace(settings, negatives=kind)
        train(opened.graph, own, WINDOW)  # compiles
        vectors, result = train(opened.graph, own, args.batches)
        pairs = result["pairs"]
        add(f"negatives of a {kind}", vectors, result)
    if not args.batches:
        vectors, seconds = train_by_rotation(comm, args.graph, settings)
        add("rotation, negatives of a pair", vectors, rates(pairs, *seconds))
        vectors, seconds = train_by_gensim(opened.graph, settings)
        add("gensim", vectors, rates(pairs, *seconds))


def rates(pairs, processor, wall):
    """Return the times of some pairs."""
    return {
        "pairs": pairs,
        "processor_seconds": round(processor, 2),
        "wall_seconds": round(wall, 2),
        "pairs_per_processor_second": round(pairs / processor),
    }


def train(graph, settings, batches):
    """Train the first batches of an epoch, or all; return vectors, and times by steps."""
    sampler = make_sampler(graph, settings)
    drawn = NegativeSampler(sampler.negative_weights(), settings.negative_power, settings.seed)
    objective = make_objective(settings.objective)
    width, shared = batch_items(settings, sampler.pairs_per_item), shared_negatives(settings)
    total = -(-sampler.items // width)
    step_sizes = learning_rates(settings, np.arange(total), total)
    vectors = initial_vectors(np.arange(graph.n), settings.dim, settings.seed)
    context = np.zeros_like(vectors)
    seconds, trained = {}, 0
    began, moment = time.perf_counter(), time.process_time()

    def passed(step):
        nonlocal moment
        now = time.process_time()
        seconds[step] = seconds.get(step, 0) + now - moment
        moment = now

    for number in range(min(total, batches or total)):
        if number % WINDOW == 0:
            items = np.arange(number * width, min((number + WINDOW) * width, sampler.items))
            pairs = sampler.sample(0, items)
            of_items = np.repeat(items, pairs.counts)
            ends = np.concatenate([[0], np.cumsum(pairs.counts)])
            places = np.arange(len(pairs)) - np.repeat(ends[:-1], pairs.counts)
            passed("sample")
        first = number % WINDOW * width
        batch = slice(ends[first], ends[min(first + width, len(items))])
        if shared:
            negatives = drawn.of_batch(0, number, shared)
        else:
            coordinates = of_items[batch], places[batch]
            negatives = drawn.of_pairs(0, *coordinates, settings.negative)
        passed("negatives")
        ids = pairs.sources[batch], pairs.contexts[batch], negatives
        own, others, small = compact(*ids, settings.negative)
        passed("distinct")
        X, Y = vectors[own], context[others]
        passed("gather")
        found = gradients(objective, X, Y, small)
        passed("gradients")
        limits = step_sizes[number], settings.row_limit
        apply(vectors, own, found.source_sums, found.source_weights, *limits)
        apply(context, others, found.context_sums, found.context_weights, *limits)
        passed("apply")
        trained += batch.stop - batch.start
    processor = sum(seconds.values())
    result = rates(int(trained), processor, time.perf_counter() - began)
    result |= {
        "batch_pairs": settings.batch_pairs,
        "shared_negatives": shared,
        "row_limit": settings.row_limit,
        "last_loss": round(found.loss / (batch.stop - batch.start), 3),
        "shares": {step: round(part / processor, 3) for step, part in seconds.items()},
    }
    return vectors, result


def train_by_rotation(comm, graph, settings):
    """Embed a graph by the strategy to rotate; return vectors and seconds."""
    settings = replace(settings, strategy="rotate", negatives="pair")
    moments = [time.process_time(), time.perf_counter()]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "EMB.h5"
        embed(comm, str(graph), settings, output)
        seconds = time.process_time() - moments[0], time.perf_counter() - moments[1]
        return read_embedding(output).vectors, seconds


def train_by_gensim(graph, settings):
    """Train gensim's Word2Vec on the walks of an epoch; return vectors and seconds."""
    from gensim.models import Word2Vec

    sampler = make_sampler(graph, settings)
    walks = sampler.walks(0, np.arange(sampler.items))
    sentences = [[str(node) for node in walk if node >= 0] for walk in walks]
    model = Word2Vec(
        vector_size=settings.dim,
        window=settings.window,
        negative=settings.negative,
        ns_exponent=settings.negative_power,
        alpha=settings.learning_rate,
        min_alpha=settings.learning_rate_end,
        sg=1,
        sample=0,
        min_count=0,
        workers=1,
        seed=1,
    )
    model.build_vocab(sentences)
    moments = [time.process_time(), time.perf_counter()]
    model.train(sentences, total_examples=len(sentences), epochs=1)
    seconds = time.process_time() - moments[0], time.perf_counter() - moments[1]
    vectors = np.zeros((graph.n, settings.dim), np.float32)
    for node, place in model.wv.key_to_index.items():
        vectors[int(node)] = model.wv.vectors[place]
    return vectors, seconds


if __name__ == "__main__":
    main()
