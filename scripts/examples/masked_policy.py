"""Trains a masked policy for a few minutes with sb3-contrib, whose PPO supports action masks.

    pip install -e '.[env,report]' sb3-contrib
    python masked_policy.py STEPS LOG

The policy learns the basic rules with two seats against random actions, in either seat. After every
eighth of the steps, it plays 60 matches without learning, and a line with its score is written to
LOG.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from sb3_contrib import MaskablePPO
from stable_baselines3.common.env_util import make_vec_env

from asara_env.gym import SeatEnv
from asara_env.observation import OBSERVATION_SIZE, observation_limits
from asara_server.tournament.standings.intervals_and_ranks import intervals_95
from asara_server.tournament.standings.result_table import BlockScores

MATCHES = 60
SCALE = np.sqrt(observation_limits())


def environment(reward: str = "prestige") -> gymnasium.Env[Any, Any]:
    """Return an environment with only the observation; MaskablePPO asks it for the masks."""
    seat = SeatEnv("basic", 2, seat=None, reward=reward)
    space = gymnasium.spaces.Box(-np.inf, np.inf, (OBSERVATION_SIZE,), np.float32)
    env = gymnasium.wrappers.TransformObservation(seat, lambda o: o["observation"] / SCALE, space)
    scaled: gymnasium.Env[Any, Any]
    scaled = gymnasium.wrappers.TransformReward(env, lambda points: float(points) / 50)
    return scaled


def evaluate(model: MaskablePPO) -> dict[str, object]:
    """Play matches that training does not see. The score is 1 for a victory and 0 for a defeat."""
    env = environment("rank")
    scores = []
    for match in range(MATCHES):
        seen, info = env.reset(seed=10**9 + match)
        points, over = 0.0, False
        while not over:
            action, _ = model.predict(seen, action_masks=info["action_mask"], deterministic=True)
            seen, reward, over, _, info = env.step(action)
            points += float(reward) * 50
        scores.append((points + 1) / 2)
    blocks = BlockScores.of(np.zeros(MATCHES, int), np.arange(MATCHES), np.array(scores), 1)
    low, high = map(float, intervals_95(blocks)[0])
    found = {"rules": "basic", "seats": 2, "against": "random", "blocks": MATCHES}
    return {**found, "score": float(np.mean(scores)), "interval_95": [low, high]}


def main() -> None:
    parser = argparse.ArgumentParser(description="Trains a masked policy with sb3-contrib.")
    parser.add_argument("steps", type=int, help="decisions to learn from, such as 100000")
    parser.add_argument("log", type=Path, help="file for the scores")
    options = parser.parse_args()
    model = MaskablePPO(
        "MlpPolicy",
        make_vec_env(environment, n_envs=8, seed=1),
        n_steps=512,
        batch_size=512,
        n_epochs=5,
        learning_rate=5e-4,
        gamma=1.0,
        policy_kwargs={"net_arch": [128, 128]},
        seed=1,
        device="cpu",
    )
    started = time.monotonic()
    with options.log.open("w", encoding="utf-8") as file:
        for part in range(9):
            if part:
                model.learn(options.steps // 8, reset_num_timesteps=False)
            found = evaluate(model)
            line = {"imitated": 0, "played": model.num_timesteps, "strength": [found]}
            file.write(json.dumps(line | {"seconds": round(time.monotonic() - started)}) + "\n")
            file.flush()
            print(f"{model.num_timesteps:8,} decisions: score {found['score']:.2f}")


if __name__ == "__main__":
    main()
