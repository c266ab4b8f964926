"""Names of points are placed where they cover nothing."""

import numpy as np

from propkernels._utils.label_places import label_places

AREA = (-200.0, -200.0, 200.0, 200.0)


def boxes_of(centers, widths, height):
    half = np.column_stack([widths, np.full(len(widths), height)]) / 2
    return np.concatenate([centers - half, centers + half], axis=1)


def overlap(one, other):
    return (one[:2] < other[2:]).all() and (other[:2] < one[2:]).all()


def test_names_of_one_place_are_apart_and_off_the_points():
    points, radii, widths = np.zeros((6, 2)), [5.0] * 6, [40.0] * 6
    boxes = boxes_of(label_places(points, radii, widths, 10.0, area=AREA), widths, 10.0)
    dot = np.array([-5.0, -5.0, 5.0, 5.0])
    assert not any(overlap(boxes[i], boxes[j]) for i in range(6) for j in range(i))
    assert not any(overlap(box, dot) for box in boxes)


def test_a_single_name_is_right_of_its_point():
    found = label_places(np.zeros((1, 2)), [4.0], [20.0], 10.0, area=AREA)
    assert found.tolist() == [[19.0, 0.0]]


def test_names_stay_inside_the_area():
    found = label_places(np.array([[198.0, 0.0]]), [2.0], [30.0], 10.0, area=AREA)
    assert found[0, 0] + 15 <= 200


def test_names_avoid_lines():
    points = np.array([[0.0, 0.0], [90.0, 0.0]])
    found = label_places(points, [2.0, 2.0], [30.0, 30.0], 10.0, area=AREA, lines=[(0, 1)])
    assert found[0, 0] < 0
    assert found[1, 0] > 90
