"""The hash table of compiled loops, compared with a Python dict."""

import numpy as np
import pytest

from novikoff._compiled.loops import hash_table


@pytest.mark.parametrize("shift", [0, 24])
def test_keys_are_found_as_in_a_dict(shift):
    """The table is half full; keys that are shifted agree in their low bits."""
    rng = np.random.default_rng(0)
    keys = rng.choice(1 << 40, 256, replace=False).astype(np.uint64) << np.uint64(shift)
    table, index_of = np.zeros((512, 2), np.uint64), {key: index for index, key in enumerate(keys.tolist())}
    assert hash_table.append_keys(keys[:100], table, 0) == 100
    assert hash_table.append_keys(keys[100:], table, 100) == 256
    asked = np.concatenate([keys[::-1], keys ^ np.uint64(1 << 63), keys + np.uint64(1)])
    found = np.empty(len(asked), np.int32)
    hash_table.find_keys(asked, table, found)
    assert found.tolist() == [index_of.get(key, -1) for key in asked.tolist()]


def test_a_table_is_copied_to_a_larger_one():
    keys = np.random.default_rng(1).choice(1 << 60, 128, replace=False).astype(np.uint64)
    table, larger = np.zeros((256, 2), np.uint64), np.zeros((1024, 2), np.uint64)
    hash_table.append_keys(keys, table, 0)
    hash_table.copy_table(table, larger)
    found, listed = np.empty(128, np.int32), np.empty(128, np.uint64)
    hash_table.find_keys(keys, larger, found)
    hash_table.list_keys(larger, listed)
    assert found.tolist() == list(range(128))
    assert listed.tolist() == keys.tolist()
